// The line below the composer: what the session is about, as links.
//
// Invariant: it shows nothing but what the server said of this session.
import { Fragment, useState } from "react";

import { useHttp } from "../../app/AppContext";
import type { SessionContext } from "../../state/context";
import { Alert } from "../../ui/Alert";
import { Icon } from "../../ui/Icon";
import { Link } from "../../ui/Link";
import { distinctTail } from "../../ui/paths";
import { inOneLine } from "../../ui/shown";
import type { SessionRow } from "../../wire/names";
import { changeNote } from "./changeNote";
import { FileLink } from "./FileLink";
import { footerOf } from "./footer";
import "./ContextFooter.css";

interface ContextFooterProps {
  row: SessionRow;
  context: SessionContext | null;
  /** Marks can be changed. */
  writable: boolean;
  onOpenFile(path: string): void;
  onOpenPanel(): void;
}

const AUTOMATIC = "edited by the agent, not pinned";

export function ContextFooter({ row, context, writable, onOpenFile, onOpenPanel }: ContextFooterProps) {
  const http = useHttp();
  // What went wrong with a change from here, for as long as the marks are as they were then.
  const [failed, setFailed] = useState<{ words: string; marks: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const footer = footerOf(context, row.id, row.cwd);
  if (footer === null) {
    return null;
  }
  const { marked, more, automatic, applet } = footer;
  const marks = JSON.stringify(context?.sets);
  const openPanel = () => {
    setFailed(null);
    onOpenPanel();
  };
  const mark = async () => {
    setFailed(null);
    setBusy(true);
    const answer = await http.setContext(row.id, { setName: "files", items: [...automatic], mode: "merge" });
    setBusy(false);
    const note = changeNote(answer, automatic);
    setFailed(note?.kind === "failure" ? { words: note.words, marks } : null);
  };
  const files = [...marked, ...automatic];
  const nameOf = (path: string) => inOneLine(distinctTail(path, files));
  return (
    <section aria-label="Context" className="safe-bottom pl-7 text-[0.8125rem] md:pl-9">
      {failed?.marks === marks && <Alert className="mb-1">{failed.words}</Alert>}
      <div className="flex items-center">
        <button
          type="button"
          aria-label="Open the context panel"
          title="What this session is about"
          className="-ml-4 inline-flex size-11 shrink-0 items-center justify-center rounded-lg text-soft hover:bg-press hover:text-ink md:pointer-fine:-ml-2 md:pointer-fine:size-7 [&>svg]:size-4"
          onClick={openPanel}
        >
          <Icon name="mark" />
        </button>
        <div className="footer-line" role="group" aria-label="Files and applet">
          <div className="footer-files" tabIndex={-1}>
            {marked.map((path, index) => (
              <Fragment key={path}>
                {index > 0 && <Dot />}
                <FileLink session={row.id} path={path} editorIn={row.cwd} words={nameOf(path)} className="footer-link" onOpen={onOpenFile} />
              </Fragment>
            ))}
            {automatic.map((path, index) => (
              <Fragment key={path}>
                {marked.length + index > 0 && <Dot />}
                <FileLink session={row.id} path={path} editorIn={row.cwd} words={nameOf(path)} note={AUTOMATIC} className="footer-link text-soft decoration-dotted!" onOpen={onOpenFile} />
              </Fragment>
            ))}
          </div>
          {more > 0 && (
            <button type="button" className="footer-link rounded text-soft hover:text-ink" aria-label={`+${more} more pinned`} onClick={openPanel}>
              +{more}
            </button>
          )}
          {automatic.length > 0 && writable && (
            <button
              type="button"
              disabled={busy}
              className="footer-link rounded text-soft hover:text-ink disabled:opacity-50"
              title={`Pin ${automatic.length === 1 ? "this file" : "these files"}: ${AUTOMATIC}`}
              onClick={() => void mark()}
            >
              <span className="rounded-md border border-rule px-1.5">Pin {automatic.length === 1 ? "it" : `these ${automatic.length}`}</span>
            </button>
          )}
          {files.length > 0 && applet !== null && <Dot />}
          {applet !== null && (
            <Link href={applet.href} className="footer-link rounded text-soft hover:text-ink" title={`The applet that was open last: ${inOneLine(applet.slug)}`}>
              <span className="max-w-24 truncate md:max-w-60">[{inOneLine(applet.slug)}]</span>
            </Link>
          )}
        </div>
      </div>
    </section>
  );
}

/** Between any two links. */
function Dot() {
  return (
    <span aria-hidden="true" className="text-soft">
      ·
    </span>
  );
}
