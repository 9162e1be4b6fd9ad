// A turn in the transcript: a knot on the thread, the person's words, and the agent's below them.
import { memo } from "react";

import type { TranscriptTurn } from "../state/transcript";
import { outcomeWords } from "../state/words";
import type { KnotShape } from "../ui/Knot";
import { BrokenEnd, Knot } from "../ui/Knot";
import { inFull, timeOfDay } from "../ui/time";

interface TurnRowProps {
  turn: TranscriptTurn;
  /** Nothing is above it. */
  first: boolean;
  /** Nothing is below it. */
  last: boolean;
  /** The turn before it was interrupted: the thread is tied again here. */
  retied: boolean;
  now: number;
}

export const TurnRow = memo(function TurnRow({ turn, first, last, retied, now }: TurnRowProps) {
  const broken = turn.outcome === "interrupted";
  const note = outcomeWords(turn);
  return (
    <article id={`t${turn.turn}`} aria-label={`Turn ${turn.turn}`}>
      <div className={`thread-row ${broken ? "pb-4" : "pb-9"} ${retied ? "pt-6 [--knot-y:2.3rem]" : ""}`}>
        {retied && (
          <span aria-hidden="true" className="absolute top-0 left-0">
            <BrokenEnd side="below" />
          </span>
        )}
        <span
          aria-hidden="true"
          className={`thread-line ${first ? "thread-line-first" : ""} ${retied ? "top-[18px]" : ""} ${last && !broken ? "thread-line-loose" : ""}`}
        />
        <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
          <Knot shape={shapeOf(turn, retied)} />
        </span>
        <header className="flex flex-wrap items-baseline justify-between gap-x-6">
          <h2 className="verbatim min-w-0 grow basis-64 leading-[1.6] font-semibold">{turn.prompt}</h2>
          <a
            href={`#t${turn.turn}`}
            className="shrink-0 rounded py-0.5 text-xs text-soft tabular-nums hover:underline"
            title={inFull(turn.startedAt)}
          >
            t{turn.turn} · {timeOfDay(turn.startedAt, now)}
          </a>
        </header>
        <div className="mt-2.5 space-y-3">
          {turn.items.map((item, index) =>
            item.type === "text" ? (
              <p key={index} className="verbatim leading-[1.65]">
                {item.text}
              </p>
            ) : null,
          )}
          {turn.items.length === 0 && turn.outcome === null && <p className="text-soft">Waiting for the first words…</p>}
          {turn.items.length === 0 && turn.outcome === "completed" && <p className="text-soft">Ended without an answer.</p>}
        </div>
        {note !== null && !broken && <Note {...note} className="mt-3" loud={turn.outcome === "failed"} />}
      </div>
      {note !== null && broken && (
        <div className="thread-row flex min-h-16 flex-col justify-center py-3">
          <span aria-hidden="true" className="absolute top-0 left-0">
            <BrokenEnd side="above" />
          </span>
          <Note {...note} loud />
        </div>
      )}
    </article>
  );
});

interface NoteProps {
  title: string;
  detail: string | null;
  /** It is not what anybody wanted. */
  loud: boolean;
  className?: string;
}

function Note({ title, detail, loud, className = "" }: NoteProps) {
  return (
    <p className={`text-[0.9375rem] text-soft ${className}`}>
      <strong className={`font-semibold ${loud ? "text-thread" : ""}`}>{title}.</strong>
      {detail !== null && ` ${detail}`}
    </p>
  );
}

function shapeOf(turn: TranscriptTurn, retied: boolean): KnotShape {
  switch (turn.outcome) {
    case null:
      return "breathing";
    case "cancelled":
      return "hollow";
    case "failed":
      return "crossed";
    case "interrupted":
      return "cut";
    case "completed":
      return retied ? "retied" : "solid";
  }
}
