// What an applet asks for, above its frame, in the page's own words and with the page's own buttons; and what it asked for and was
// not allowed, so that the person can change their mind where they were asked.
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { Button } from "../../ui/Button";
import { Exact } from "../../ui/Exact";
import type { AppletGrant } from "../../wire/applets";
import { AppletLine } from "./AppletLine";
import type { Ask, Asks } from "./asks";
import type { Grants } from "./grants";
import { useFocusKept } from "./useFocusKept";

/** As in “Counter wants to …”. */
export const GRANT_WORDS: Record<AppletGrant, string> = {
  "files.read": "read files of this session",
  "files.write": "write files of this session",
  message: "send prompts to the agent",
};

/** A press so soon after a button came was meant for what stood there before. */
const ARMED_AFTER_MS = 600;

interface AskBarProps {
  asks: Asks;
  grants: Grants;
  title: string;
  /** Null where nobody saved it. */
  slug: string | null;
}

export function AskBar({ asks, grants, title, slug }: AskBarProps) {
  const ask = useSyncExternalStore(asks.subscribe, asks.current);
  const declined = useSyncExternalStore(grants.subscribe, grants.declined);
  const name = quoted(title);
  return (
    <>
      {ask !== null && <Bar key={asks.nth} ask={ask} name={name} slug={slug === title ? null : slug} onAnswer={(yes) => asks.answer(yes)} />}
      {declined.map((grant) => (
        // Whatever comes or goes above moves it to where something else stood.
        <Declined key={[grant, asks.nth, ...declined].join(" ")} grant={grant} grants={grants} name={name} />
      ))}
    </>
  );
}

function Bar({ ask, name, slug, onAnswer }: { ask: Ask; name: string; slug: string | null; onAnswer(yes: boolean): void }) {
  const text = ask.kind === "link" ? ask.url : ask.text;
  const armed = useArmed();
  const bar = useRef<HTMLDivElement>(null);
  useFocusKept(bar);
  const agree = () => {
    onAnswer(true);
    if (ask.kind === "link") {
      // What it opens knows nothing of this page.
      window.open(ask.url, "_blank", "noopener,noreferrer");
    }
  };
  return (
    <div ref={bar} role="alertdialog" aria-label="The applet asks" className="border-b border-rule ground-shade px-4 py-3 text-[0.9375rem]">
      <p className="wrap-anywhere">
        <strong className="font-semibold" dir="auto">
          {name}
        </strong>
        {slug !== null && ` (${slug})`} wants to {wishOf(ask)}
      </p>
      {text !== null && (
        <p className="mt-1.5 verbatim max-h-40 overflow-y-auto border-l-2 border-rule pl-3">
          <Exact text={text} />
        </p>
      )}
      <div className="mt-2.5 flex flex-wrap items-center gap-2">
        <Button look="primary" disabled={!armed} onClick={agree}>
          {ask.kind === "link" ? "Open it" : ask.text === null ? "Allow" : "Send, and allow it from now on"}
        </Button>
        <Button disabled={!armed} onClick={() => onAnswer(false)}>
          Not now
        </Button>
      </div>
      {ask.kind === "grant" && (
        <p className="mt-2 text-[0.8125rem] text-soft">This holds in every session where you open it, until the applet changes. You can take it back in its menu.</p>
      )}
    </div>
  );
}

function Declined({ grant, grants, name }: { grant: AppletGrant; grants: Grants; name: string }) {
  const armed = useArmed();
  const [failed, setFailed] = useState<string | null>(null);
  const allow = () => grants.set(grant, true).catch((error: unknown) => setFailed(error instanceof Error ? error.message : "It could not be allowed."));
  return (
    <AppletLine>
      You did not allow <bdi>{name}</bdi> to {GRANT_WORDS[grant]}.{" "}
      <button type="button" className="small-button mx-0!" aria-label={`Allow it to ${GRANT_WORDS[grant]}`} disabled={!armed} onClick={() => void allow()}>
        Allow
      </button>
      {failed !== null && (
        <span role="alert" className="text-failed">
          {" "}
          {failed}
        </span>
      )}
    </AppletLine>
  );
}

function useArmed(): boolean {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), ARMED_AFTER_MS);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return armed;
}

/** A name that holds quotation marks of its own could end them, and go on as if the page said it. */
function quoted(title: string): string {
  return `“${title.replaceAll(/[“”„‟"]/g, "'")}”`;
}

function wishOf(ask: Ask): string {
  return ask.kind === "link" ? "open this page elsewhere:" : ask.text === null ? `${GRANT_WORDS[ask.grant]}.` : "send this to the agent:";
}
