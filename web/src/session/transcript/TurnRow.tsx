// A turn in the transcript: a knot on the thread, the person's words, and what the agent said and did below them.
import { memo } from "react";

import { openRequests } from "../../state/followed";
import type { TranscriptTurn } from "../../state/transcript";
import { authorWords, outcomeWords } from "../../state/words";
import type { KnotShape } from "../../ui/Knot";
import { BrokenEnd, Knot } from "../../ui/Knot";
import { Link } from "../../ui/Link";
import { shown } from "../../ui/shown";
import { inFull, timeOfDay } from "../../ui/time";
import type { SessionId, Timestamp } from "../../wire/names";
import type { Actions } from "../items/actions";
import { ResumeCard } from "../items/Asides";
import { ItemsSessionContext } from "../items/ItemsSessionContext";
import { Items } from "../items/Items";
import { Pictures } from "../items/Pictures";
import { TurnUsage } from "../used/TurnUsage";
import { AnswerActions } from "./AnswerActions";
import { NotAnswering } from "./NotAnswering";
import { PromptActions } from "./PromptActions";
import { PromptText } from "./PromptText";
import "./TurnRow.css";

interface TurnRowProps {
  turn: TranscriptTurn;
  /** The session that it is of. */
  session: SessionId;
  /** The same, if that is not the open one: then it is for reading only. */
  past: SessionId | null;
  /** The session from which its own was begun, if it is the first of it. */
  from: SessionId | null;
  /** That session was deleted. */
  fromGone: boolean;
  /** Nothing is above it. */
  first: boolean;
  /** Nothing is below it. */
  last: boolean;
  /** No prompt of the person came after its own. */
  newest: boolean;
  /** The turn before it was interrupted: the thread is tied again here. */
  retied: boolean;
  /** Its agent has been silent for too long. */
  stalled: boolean;
  /** It was just asked for. */
  lit: boolean;
  answeredAt: ReadonlyMap<number, Timestamp>;
  actions: Actions;
  now: number;
}

export const TurnRow = memo(function TurnRow({ turn, session, past, from, fromGone, first, last, newest, retied, stalled, lit, answeredAt, actions, now }: TurnRowProps) {
  const broken = turn.outcome === "interrupted";
  const running = turn.outcome === null;
  const note = outcomeWords(turn);
  const author = authorWords(turn.by);
  return (
    <ItemsSessionContext value={session}>
      <article id={past === null ? `t${turn.turn}` : undefined} aria-label={past === null ? `Turn ${turn.turn}` : `Turn ${turn.turn} of an earlier session`} data-session={past ?? undefined} data-turn={past === null ? undefined : turn.turn} data-lit={lit || undefined} className="group/turn">
        <div className={`thread-row ${broken ? "pb-4" : "pb-7"} ${retied ? "pt-6 [--knot-y:2.3rem]" : "pt-2 [--knot-y:1.3rem]"}`}>
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
            <Knot shape={shapeOf(turn, retied, stalled)} />
          </span>
          <header className="@container">
            <div className="flex gap-x-6 @max-lg:flex-col">
              <PromptText text={turn.prompt} turn={turn.turn} />
              <div className="flex h-[1.6rem] shrink-0 items-center gap-2 @max-lg:flex-row-reverse @max-lg:justify-between">
                <PromptActions turn={turn.turn} past={past} text={turn.prompt} images={turn.images} newest={newest} running={running} />
                <Mark turn={turn.turn} past={past} at={turn.startedAt} now={now} />
              </div>
            </div>
            {author !== null && <p className="text-[0.8125rem] text-soft">{author}</p>}
            {turn.images.length > 0 && <Pictures images={turn.images} />}
          </header>
          <div className="mt-2.5 space-y-3 max-md:space-y-2">
            {turn.resume !== null && <ResumeCard text={turn.resume} from={from} fromGone={fromGone} />}
            <Items session={session} past={past} turn={turn.turn} items={turn.items} blocks={turn.blocks} running={running} answeredAt={answeredAt} actions={actions} now={now} />
            {turn.items.length === 0 && running && !stalled && <p className="text-soft">Waiting for the first words…</p>}
            {turn.items.length === 0 && turn.outcome === "completed" && <p className="text-soft">Ended without an answer.</p>}
            {running && stalled && <NotAnswering actions={actions} />}
          </div>
          {!running && (
            <div className="mt-1 flex flex-wrap items-center justify-between gap-x-3">
              {turn.items.length > 0 && <AnswerActions session={session} turn={turn.turn} items={turn.items} />}
              <TurnUsage session={session} turn={turn.turn} />
            </div>
          )}
          {note !== null && !broken && <Note {...note} className="mt-3" colour={turn.outcome === "failed" ? "text-failed" : ""} />}
        </div>
        {note !== null && broken && (
          <div className="thread-row flex min-h-16 flex-col justify-center py-3">
            <span aria-hidden="true" className="absolute top-0 left-0">
              <BrokenEnd side="above" />
            </span>
            <Note {...note} colour="text-warning" />
          </div>
        )}
      </article>
    </ItemsSessionContext>
  );
});

/** The turn's name and time; apart, so that a turn that grows does not tell the time anew with every word. */
const Mark = memo(function Mark({ turn, past, at, now }: { turn: number; past: SessionId | null; at: Timestamp; now: number }) {
  const look = "shrink-0 rounded py-0.5 text-xs text-soft tabular-nums hover:underline";
  const words = `t${turn} · ${timeOfDay(at, now)}`;
  return past === null ? (
    <a href={`#t${turn}`} className={look} title={inFull(at)}>
      {words}
    </a>
  ) : (
    <Link href={`/s/${past}#t${turn}`} className={look} title={inFull(at)}>
      {words}
    </Link>
  );
});

interface NoteProps {
  title: string;
  detail: string | null;
  /** Of its first word, where it is not what anybody wanted. */
  colour: string;
  className?: string;
}

function Note({ title, detail, colour, className = "" }: NoteProps) {
  return (
    <p className={`text-[0.9375rem] text-soft ${className}`}>
      <strong className={`font-semibold ${colour}`}>{title}.</strong>
      {detail !== null && ` ${shown(detail)}`}
    </p>
  );
}

function shapeOf(turn: TranscriptTurn, retied: boolean, stalled: boolean): KnotShape {
  switch (turn.outcome) {
    case null:
      return openRequests(turn).length > 0 ? "asking" : stalled ? "stalled" : "breathing";
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
