// A turn that is not read yet, or was let go of: its number and what it was about.
import { useApp } from "../../app/AppContext";
import { earlierPageOf } from "../../state/earlier";
import type { Followed } from "../../state/followed";
import { Button } from "../../ui/Button";
import { Knot } from "../../ui/Knot";
import { shown } from "../../ui/shown";
import type { SessionId } from "../../wire/names";

interface UnreadRowProps {
  session: SessionId;
  followed: Followed;
  turn: number;
  /** Nothing is above it. */
  first: boolean;
  /** It is of a session above the open one. */
  past: boolean;
}

export function UnreadRow({ session, followed, turn, first, past }: UnreadRowProps) {
  const app = useApp();
  const page = followed.earlier.get(earlierPageOf(turn));
  const summary = followed.contents.lines[turn - 1]?.summary ?? null;
  return (
    <article id={past ? undefined : `t${turn}`} aria-label={past ? `Turn ${turn} of an earlier session` : `Turn ${turn}`} data-session={past ? session : undefined} data-turn={past ? turn : undefined} aria-busy={page?.kind !== "failed"} className="thread-row h-full overflow-hidden pt-2 [--knot-y:1.3rem]">
      <span aria-hidden="true" className={`thread-line ${first ? "thread-line-first" : ""}`} />
      <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
        <Knot shape="hollow" />
      </span>
      <div className="flex gap-x-6">
        <h2 className="min-w-0 flex-1 truncate leading-[1.6] text-soft">{summary === null ? "" : shown(summary)}</h2>
        <span className="shrink-0 py-0.5 text-xs text-soft tabular-nums">t{turn}</span>
      </div>
      {page?.kind === "failed" && (
        <p className="mt-1 text-[0.9375rem] text-soft">
          This turn could not be read. {page.words} <Button onClick={() => app.readTurns(session, turn, turn)}>Try again</Button>
        </p>
      )}
    </article>
  );
}
