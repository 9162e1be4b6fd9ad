// One changed file: a line that unfolds into its diff.
import { use, useId, useState } from "react";

import { failureWords } from "../../api/http";
import { Alert } from "../../ui/Alert";
import { inOneLine } from "../../ui/shown";
import type { ChangedFile, FileDiff, SessionId } from "../../wire/names";
import { ComposeContext } from "../composer/ComposeContext";
import { TurnLink } from "../side/TurnLink";
import { Counts } from "./Counts";
import { DiffLines } from "./DiffLines";
import { numbered, quoted } from "./diffRows";
import { editorAddress, EDITORS, useEditor } from "./editors";
import type { ChangesSince } from "./useChanges";
import { useFileDiff } from "./useChanges";

interface FileChangeProps {
  session: SessionId;
  file: ChangedFile;
  since: ChangesSince;
  /** Before and after stand side by side. */
  split: boolean;
  stamp: string;
  onJump(): void;
}

const STATUS: Record<ChangedFile["status"], readonly [sign: string, word: string]> = {
  created: ["A", "created"],
  changed: ["M", "changed"],
  deleted: ["D", "deleted"],
  moved: ["R", "moved"],
};

const WHY: Record<ChangedFile["compared"], string | null> = {
  lines: null,
  edits: "What the whole file was like before is not known. These are the agent’s edits, one by one.",
  binary: "This is not a text file.",
  too_large: "This file is too large to compare.",
  protected: "This file is protected: nothing of it is shown.",
  elsewhere: "This file lies outside of the session’s directories and is not read. These are the agent’s edits, one by one.",
  link: "This is a symbolic link.",
  submodule: "This is another git repository.",
  not_known: "Nothing is known but that it changed.",
  not_counted: null,
};

export function FileChange({ session, file, since, split, stamp, onJump }: FileChangeProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const [sign, word] = STATUS[file.status];
  const cut = file.name.lastIndexOf("/") + 1;
  return (
    <section aria-label={inOneLine(file.name)}>
      <button type="button" className="changes-file" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}>
        <span aria-hidden="true" className={`changes-status changes-${file.status}`}>
          {sign}
        </span>
        <span className="sr-only">{word} </span>
        <span className="flex min-w-0 flex-1 items-baseline" title={file.path}>
          {cut > 0 && <span className="min-w-[2ch] shrink-[9999] truncate text-soft">{inOneLine(file.name.slice(0, cut))}</span>}
          <span className="min-w-0 truncate">{inOneLine(file.name.slice(cut))}</span>
        </span>
        <By by={file.by} />
        {file.lines !== undefined && file.lines !== null && <Counts {...file.lines} />}
      </button>
      {open && (
        <div id={id}>
          <Opened session={session} file={file} since={since} split={split} stamp={stamp} onJump={onJump} />
        </div>
      )}
    </section>
  );
}

function By({ by }: { by: ChangedFile["by"] }) {
  if (by === "session") {
    return null;
  }
  const [word, title] =
    by === "outside"
      ? ["changed outside", "No edit of this session changed it: a command, another program or you did."]
      : ["also changed outside", "The session changed it, and then somebody else did."];
  return (
    <span className="changes-outside" title={title}>
      {word}
    </span>
  );
}

function Opened({ session, file, since, split, stamp, onJump }: FileChangeProps) {
  const { value, failure, hunks, isMore, more, busy, moreFailure } = useFileDiff(session, file.path, since, stamp);
  const compose = use(ComposeContext);
  const [editor] = useEditor();
  const lines = numbered(hunks);
  const outside = numbered(value?.outside ?? []);
  const first = lines.find(({ kind }) => kind !== "same") ?? lines[0];
  const address = file.status === "deleted" ? null : editorAddress(editor, file.path, first?.newNumber ?? 1);
  const add = compose === null ? null : (words: string) => compose.add(words);
  const why = WHY[(value ?? { file }).file.compared];
  return (
    <div className="pb-3">
      <p className="flex flex-wrap items-baseline gap-x-3 text-[0.8125rem] text-soft">
        {file.from !== undefined && file.from !== null && <span>from {inOneLine(file.from)}</span>}
        {file.turns.slice(-8).map((turn) => (
          <TurnLink key={turn} turn={turn} onJump={onJump} />
        ))}
        {address !== null && (
          <a href={address} className="small-button inline-flex items-center">
            Open in {EDITORS[editor]}
          </a>
        )}
      </p>
      {failure !== null && <Alert className="my-2">{failureWords(failure)}</Alert>}
      {why !== null && <p className="py-1 text-[0.8125rem] text-soft">{why}</p>}
      {value === null && failure === null && <p className="py-1 text-[0.8125rem] text-soft">Reading…</p>}
      {lines.length > 0 && (
        <DiffLines name={inOneLine(file.name)} lines={lines} split={split} onComment={add === null ? null : (of, words) => add(quoted(file.name, of, words))} />
      )}
      {value !== null && lines.length === 0 && why === null && <p className="py-1 text-[0.8125rem] text-soft">{emptyWords(value)}</p>}
      {isMore && (
        <>
          {moreFailure !== null && <Alert className="my-2">{failureWords(moreFailure)}</Alert>}
          {/* Not `disabled`, which would take the focus away. */}
          <button type="button" className="small-button mx-0!" aria-disabled={busy} onClick={() => void more()}>
            {busy ? "Reading…" : "Show more lines"}
          </button>
        </>
      )}
      {value?.file.by === "both" && (
        <div className="mt-2">
          <p className="py-1 text-[0.8125rem] font-medium text-warning">Changed outside of the session since</p>
          {outside.length > 0 ? (
            <DiffLines name={`${inOneLine(file.name)}, changed outside`} lines={outside} split={split} onComment={add === null ? null : (of, words) => add(quoted(file.name, of, words))} />
          ) : (
            <p className="text-[0.8125rem] text-soft">What it was like before that is not known.</p>
          )}
          {value.outsideCut === true && <p className="text-[0.8125rem] text-soft">The rest of it is left out.</p>}
        </div>
      )}
    </div>
  );
}

function emptyWords({ file: { status } }: FileDiff): string {
  switch (status) {
    case "created":
      return "The file is empty.";
    case "deleted":
      return "The file was empty.";
    case "moved":
      return "It was moved and not changed.";
    case "changed":
      return "It is the same as before.";
  }
}
