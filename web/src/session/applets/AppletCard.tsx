// An applet that the agent showed: what it is called, and the ways to open it as it is today and as it was shown then.
//
// Invariant: nothing of it runs in the transcript.
import { memo, use } from "react";

import type { ShownApplet } from "../../state/outputItem";
import { Icon } from "../../ui/Icon";
import { Link } from "../../ui/Link";
import { inOneLine } from "../../ui/shown";
import type { Output, SessionId } from "../../wire/names";
import { Step } from "../items/Step";
import { appletHref, SHOWN } from "./address";
import { AppletsContext } from "./AppletsContext";
import "../items/CodeBlock.css";
import "../outputs/OutputCard.css";
import "./AppletCard.css";

interface AppletCardProps {
  /** The session that it is of. */
  session: SessionId;
  /** The turn in which it was shown. */
  turn: number;
  output: Output;
  /** What the entry beside the output says of it. */
  applet: ShownApplet | undefined;
}

export const AppletCard = memo(function AppletCard({ session, turn, output, applet }: AppletCardProps) {
  const { newest, fresh, past } = use(AppletsContext);
  const slug = applet?.slug ?? output.slug ?? null;
  const title = inOneLine(applet?.title ?? output.title ?? "") || slug || "Applet";
  const params = applet?.params ?? {};
  const address = { applet: slug ?? SHOWN, params, past: null };
  // Of those that nobody saved, a session keeps the newest.
  const isReplaced = slug === null && newest !== null && newest.slug === null && newest.output !== output.id;
  const isFresh = fresh === output.id;
  return (
    <Step bead={null}>
      <figure data-output={output.id} tabIndex={-1} className={`code-block output-card applet-card @container/output ${isFresh ? "applet-fresh" : ""}`} aria-label={`Applet: ${title}`}>
        <figcaption>
          <Icon name="applet" />
          <span className="output-name font-sans! font-medium" title={title} dir="auto">
            {title}
          </span>
          <span className="output-detail" role="status">
            {slug ?? "not saved"}
            {isFresh && <strong className="font-semibold text-thread"> · new, open it</strong>}
            {past === output.id && " · open as it was"}
          </span>
          <span className="output-actions">
            {!isReplaced && (
              <Link className="small-button inline-flex items-center" href={appletHref(session, address)} aria-label={`Open ${title}`}>
                Open
              </Link>
            )}
            <Link
              className="small-button inline-flex items-center"
              href={appletHref(session, { ...address, past: { turn, output: output.id } })}
              aria-label={`Open ${title} as it was in turn ${turn}`}
            >
              As it was
            </Link>
          </span>
        </figcaption>
      </figure>
    </Step>
  );
});

export const AppletSaved = memo(function AppletSaved({ session, slug, name }: { session: SessionId; slug: string; name: string }) {
  return (
    <Step bead={null}>
      <p className="text-[0.8125rem] text-soft">
        Saved as the applet{" "}
        <Link className="underline decoration-rule underline-offset-3 hover:decoration-current" href={appletHref(session, { applet: slug, params: {}, past: null })} dir="auto">
          {inOneLine(name) || slug}
        </Link>
      </p>
    </Step>
  );
});
