// A session in the list, in two lines: what it is called and when something last happened, then how it stands and where it works.
import { memo, use, useRef } from "react";

import { ConnectionNotice } from "../app/FrameContext";
import { baseName } from "../state/context";
import { isPinned } from "../state/sessionList";
import { stateColour } from "../state/stateColour";
import { fenceOf, stateWord, titleOf } from "../state/words";
import { TitleCard } from "../titles/TitleCard";
import { Anchored } from "../ui/Anchored";
import { counted } from "../ui/counted";
import { useHovering } from "../ui/hovering";
import { Icon } from "../ui/Icon";
import type { KnotShape } from "../ui/Knot";
import { Knot } from "../ui/Knot";
import { Link } from "../ui/Link";
import { inOneLine } from "../ui/shown";
import { ago, inFull } from "../ui/time";
import type { SessionRow as Row } from "../wire/names";
import type { WorkId } from "../wire/work";

export interface SessionRowProps {
  row: Row;
  /** The name of the work that it belongs to. */
  work: string | null;
  current: boolean;
  now: number;
  /** Whether it is chosen; null while nothing is. */
  chosen?: boolean | null;
  /** The work of which earlier sessions are behind it, how many, and whether they are shown. */
  foldedWork?: WorkId | null;
  foldedCount?: number;
  foldOpen?: boolean;
  /** It is one of those. */
  behind?: boolean;
  onFold?: ((work: WorkId) => void) | undefined;
}

/** Drawn again only when something of it changes; so whoever draws many gives each the same functions. */
export const SessionRow = memo(function SessionRow({ row, work, current, now, chosen = null, foldedWork = null, foldedCount = 0, foldOpen = false, behind = false, onFold }: SessionRowProps) {
  const anchor = useRef<HTMLDivElement>(null);
  const hovering = useHovering();
  // Without a connection nobody knows how it stands now: it is told as it was, and looks so.
  const stale = use(ConnectionNotice) !== null;
  return (
    <div ref={anchor} {...hovering.props} className={`relative ${behind ? "ml-5 border-l border-rule pl-1" : ""}`}>
      <Link
        href={`/s/${row.id}`}
        data-row={row.id}
        onClick={hovering.hide}
        aria-current={current ? "page" : undefined}
        className={`grid min-h-12 grid-cols-[1.25rem_minmax(0,1fr)_auto] items-center gap-x-2 rounded-lg px-2.5 py-1.5 -outline-offset-2 transition-[background-color] md:min-h-11 ${chosen ? "bg-press ring-1 ring-focus ring-inset" : current ? "ground-press" : "hover:bg-press/60"}`}
      >
        <span className="flex justify-center self-start pt-1">
          {chosen === null ? (
            <Knot shape={stale && isAtWork(row) ? "hollow" : shapeOf(row)} {...(row.state === "idle" && (row.unobserved ? { colour: "text-ink" } : { quiet: true }))} {...(stale && { quiet: true })} />
          ) : (
            <span aria-hidden="true" className={`flex size-4 items-center justify-center rounded border ${chosen ? "border-focus bg-focus text-paper [&>svg]:size-3" : "border-edge bg-paper"}`}>
              {chosen && <Icon name="check" />}
            </span>
          )}
        </span>
        <span className={`flex min-w-0 items-center gap-1 leading-snug ${row.unobserved ? "font-semibold" : ""}`}>
          {chosen && <span className="sr-only">Selected: </span>}
          <span className="truncate" dir="auto">
            {titleOf(row)}
          </span>
          {isPinned(row) && (
            <span className="shrink-0 text-soft [&>svg]:size-3.5">
              <span className="sr-only">Pinned</span>
              <Icon name="pin" />
            </span>
          )}
        </span>
        <time className="text-xs text-soft tabular-nums" dateTime={row.activeAt} title={inFull(row.activeAt)}>
          {ago(row.activeAt, now)}
        </time>
        {row.state === "running" && row.meta.currentIntent && (
          <span className="col-span-2 col-start-2 truncate text-[0.8125rem] leading-snug text-soft italic" dir="auto">
            {inOneLine(row.meta.currentIntent)}
          </span>
        )}
        <span className={`col-span-2 col-start-2 flex min-w-0 gap-x-1.5 text-[0.8125rem] leading-snug text-soft ${foldedWork === null ? "" : "pr-20"}`}>
          <span className="min-w-16 truncate">
            {row.state === "needs_you" && !stale && <Loud word={stateWord(row.state)} className={stateColour(row.state)} />}
            {row.unobserved && <Loud word="Unseen" className="text-ink" />}
            {row.state !== "idle" && (row.state !== "needs_you" || stale) && (
              <>
                <span className={stale ? "" : stateColour(row.state)}>{stale ? `Last seen: ${stateWord(row.state)}` : stateWord(row.state)}</span>
                {" · "}
              </>
            )}
            {row.agent} · {baseName(row.project)}
            {work !== null && (
              <>
                {" · "}
                <span className="sr-only">Work: </span>
                <span dir="auto">{inOneLine(work)}</span>
              </>
            )}
          </span>
          <Tags tags={row.tags ?? []} />
        </span>
      </Link>
      {foldedWork !== null && (
        <button
          type="button"
          aria-expanded={foldOpen}
          className="absolute right-1.5 bottom-0.5 min-h-6 rounded px-1.5 text-xs text-soft hover:bg-press hover:text-ink pointer-coarse:min-h-8"
          onClick={() => onFold?.(foldedWork)}
        >
          {foldOpen ? "Show less" : counted(foldedCount, "more", "more")}
          <span className="sr-only"> of the same work</span>
        </button>
      )}
      {hovering.shown && chosen === null && (
        <Anchored anchor={anchor} side="right" label={`Titles of “${titleOf(row)}”`} className="w-88 max-w-[calc(100vw-1rem)]" onPressElsewhere={hovering.hide}>
          <TitleCard row={row} writable={fenceOf(row) === null} onGone={hovering.hide} />
        </Anchored>
      )}
    </div>
  );
});

/** What the person chose to file it by: it stays in sight where the rest of the line does not fit. */
function Tags({ tags }: { tags: readonly string[] }) {
  return tags.length === 0 ? null : (
    <span className="max-w-[60%] shrink-0 truncate text-ink/80" title={tags.map((tag) => `#${tag}`).join(" ")}>
      {tags.map((tag, at) => (
        <span key={tag} dir="auto">
          {at > 0 && " "}#{tag}
        </span>
      ))}
    </span>
  );
}

function Loud({ word, className }: { word: string; className: string }) {
  return (
    <>
      <strong className={`font-semibold ${className}`}>{word}</strong>
      {" · "}
    </>
  );
}

function isAtWork({ state }: Row): boolean {
  return state === "running" || state === "starting" || state === "needs_you" || state === "unresponsive";
}

function shapeOf(row: Row): KnotShape {
  switch (row.state) {
    case "running":
    case "starting":
      return "breathing";
    case "needs_you":
      return "asking";
    case "unresponsive":
      return "stalled";
    case "interrupted":
      return "cut";
    case "failed":
      return "crossed";
    default:
      return row.unobserved ? "solid" : "hollow";
  }
}
