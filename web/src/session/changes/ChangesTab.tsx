// What changed in the session's files: against how they were when it or a turn began, or against git.
import { useEffect, useRef, useState } from "react";

import { failureWords, sentence } from "../../api/http";
import type { Followed } from "../../state/followed";
import { Alert } from "../../ui/Alert";
import { counted } from "../../ui/counted";
import { Select } from "../../ui/Select";
import type { ChangedFile, ChangesPage, SessionRow } from "../../wire/names";
import { Counts } from "./Counts";
import { EditorChoice } from "./EditorChoice";
import { FileChange } from "./FileChange";
import { OpenCommentsContext, useOpenComments } from "./openComments";
import type { ChangesSince } from "./useChanges";
import { newestChange, useChanges } from "./useChanges";
import "./ChangesTab.css";

interface ChangesTabProps {
  row: SessionRow;
  followed: Followed;
  /** The turn that is read, of this session. */
  read: number | null;
  onJump(): void;
}

type Base = "session" | "from-turn" | "turn" | "git" | "index";

/** So narrow that two columns would be unreadable. */
const SPLIT_PX = 640;

/** What was chosen last, for as long as the page is loaded: the session may change under it. */
let chosenBase: Base = "session";
let chosenSplit = true;

export function ChangesTab({ row, followed, read, onJump }: ChangesTabProps) {
  const [base, setBase] = useState<Base>(chosenBase);
  const newest = Math.max(row.turns, 1);
  // The turn that is read when one is asked for: it does not change as the reader goes on.
  const [turn, setTurn] = useState(read ?? newest);
  const [split, setSplit] = useState(chosenSplit);
  const [around, width] = useWidth();
  const of = Math.min(turn, newest);
  const since = sinceOf(base, of);
  const comments = useOpenComments();
  const { value: page, failure, waiting, again, looks } = useChanges(row.id, since, newestChange(followed.context), comments.some);
  const roomy = width >= SPLIT_PX;
  return (
    <div ref={around} className="changes">
      <div className="changes-head">
        <label className="flex min-w-0 flex-1 items-center gap-2 text-[0.8125rem]">
          <span className="shrink-0 text-soft">Since</span>
          <Select
            boxClass="min-w-0 flex-1"
            className="changes-choice"
            value={base}
            onChange={(event) => {
              chosenBase = event.target.value as Base;
              if (isOfTurn(chosenBase) && !isOfTurn(base)) {
                setTurn(read ?? newest);
              }
              setBase(chosenBase);
            }}
          >
            <option value="session">the session began</option>
            <option value="from-turn">a turn began</option>
            <option value="turn">in one turn</option>
            {(page?.git === true || base === "git") && <option value="git">the last commit (git)</option>}
            {(page?.git === true || base === "index") && <option value="index">what is staged (git)</option>}
          </Select>
        </label>
        {isOfTurn(base) && (
          <label className="flex items-center gap-1 text-[0.8125rem] text-soft">
            Turn
            <input
              type="number"
              className="changes-choice w-16"
              min={1}
              max={newest}
              value={of}
              onChange={(event) => setTurn(Math.min(Math.max(Math.trunc(event.target.valueAsNumber) || 1, 1), newest))}
            />
          </label>
        )}
        {roomy && (
          <button
            type="button"
            className="small-button changes-switch shrink-0 mx-0!"
            aria-pressed={split}
            onClick={() => {
              chosenSplit = !split;
              setSplit(chosenSplit);
            }}
          >
            Side by side
          </button>
        )}
        <button type="button" className="small-button shrink-0 mx-0!" onClick={again}>
          Refresh
        </button>
      </div>
      {failure !== null && <Alert className="my-3">{failureWords(failure)}</Alert>}
      <p role="status" className="text-[0.8125rem] text-soft">
        {waiting && "The files may have changed since. They are compared again when your comment is done."}
      </p>
      {page !== null && <Totals page={page} />}
      {page !== null && page.files.length > 0 && (
        <OpenCommentsContext value={comments}>
          <ul aria-label="Changed files" className="changes-files">
            {page.files.map((file) => (
              <li key={file.path}>
                <FileChange session={row.id} file={file} since={since} split={split && roomy} stamp={stampOf(file, looks)} onJump={onJump} />
              </li>
            ))}
          </ul>
        </OpenCommentsContext>
      )}
      {page !== null && <Notes page={page} base={base} />}
      <EditorChoice />
    </div>
  );
}

function isOfTurn(base: Base): boolean {
  return base === "from-turn" || base === "turn";
}

function sinceOf(base: Base, turn: number): ChangesSince {
  switch (base) {
    case "session":
    case "git":
    case "index":
      return { since: base };
    case "from-turn":
      return { since: `t${turn}` };
    case "turn":
      return { turn: `t${turn}` };
  }
}

/** Another one means that the file's diff is another. */
function stampOf({ lines, turns, by }: ChangedFile, looks: number): string {
  return `${lines?.added ?? "?"} ${lines?.removed ?? "?"} ${turns.join()} ${by} ${looks}`;
}

function Totals({ page: { files, more, lines } }: { page: ChangesPage }) {
  if (files.length === 0) {
    return <p className="py-4 text-[0.9375rem] text-soft">No file changed.</p>;
  }
  return (
    <p className="flex items-baseline gap-2 py-2 text-[0.8125rem] text-soft tabular-nums">
      {counted(files.length + more, "file")}
      <Counts added={lines.added} removed={lines.removed} />
    </p>
  );
}

function Notes({ page, base }: { page: ChangesPage; base: Base }) {
  const notes = [
    page.more > 0 && `${counted(page.more, "more file")} changed; ask for one turn to see fewer.`,
    page.earlierLeftOut && "So much happened in this session that its oldest edits were not looked at.",
    page.incomplete === true && ["There may be more changed files than could be compared.", ...(page.leftOut ?? []).map(sentence)].join(" "),
    page.gitTrouble !== undefined && page.gitTrouble !== null && sentence(page.gitTrouble),
    base !== "git" && base !== "index" && page.git && "What commands changed is not among an agent’s edits: compare with the last commit to see it.",
  ].filter((note) => typeof note === "string");
  return (
    <>
      {notes.map((note) => (
        <p key={note} className="mt-3 text-[0.8125rem] text-soft">
          {note}
        </p>
      ))}
    </>
  );
}

/** How wide the tab is. */
function useWidth() {
  const around = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = around.current;
    if (element === null) {
      return undefined;
    }
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [around, width] as const;
}
