// A session in the list: what it is called, how it stands, where it works, and when something last happened.
import { useRef } from "react";

import { stateColour } from "../state/stateColour";
import { fenceOf, stateWord, titleOf } from "../state/words";
import { TitleCard } from "../titles/TitleCard";
import { Anchored } from "../ui/Anchored";
import { useHovering } from "../ui/hovering";
import type { KnotShape } from "../ui/Knot";
import { Knot } from "../ui/Knot";
import { Link } from "../ui/Link";
import { inOneLine } from "../ui/shown";
import { ago, inFull } from "../ui/time";
import type { SessionRow as Row } from "../wire/names";

interface SessionRowProps {
  row: Row;
  /** The name of the work that it belongs to. */
  work: string | null;
  current: boolean;
  now: number;
}

export function SessionRow({ row, work, current, now }: SessionRowProps) {
  const anchor = useRef<HTMLDivElement>(null);
  const hovering = useHovering();
  return (
    <div ref={anchor} {...hovering.props}>
      <Link
        href={`/s/${row.id}`}
        data-row=""
        onClick={hovering.hide}
        aria-current={current ? "page" : undefined}
        className={`grid min-h-16 grid-cols-[1.25rem_minmax(0,1fr)_auto] items-start gap-x-2 rounded-lg px-2.5 py-2.5 -outline-offset-2 transition-[background-color] ${current ? "ground-press" : "hover:bg-press/60"}`}
      >
        <span className="mt-1 flex justify-center">
          <Knot shape={shapeOf(row)} {...(row.state === "idle" && (row.unobserved ? { colour: "text-ink" } : { quiet: true }))} />
        </span>
        <span className={`truncate ${row.unobserved ? "font-semibold" : ""}`} dir="auto">
          {titleOf(row)}
        </span>
        <time className="mt-0.5 text-xs text-soft tabular-nums" dateTime={row.activeAt} title={inFull(row.activeAt)}>
          {ago(row.activeAt, now)}
        </time>
        {work !== null && (
          <span className="col-span-2 col-start-2 truncate text-[0.8125rem] text-soft" dir="auto">
            <span className="sr-only">Work: </span>
            {inOneLine(work)}
          </span>
        )}
        {row.state === "running" && row.meta.currentIntent && (
          <span className="col-span-2 col-start-2 truncate text-[0.8125rem] text-soft italic" dir="auto">
            {inOneLine(row.meta.currentIntent)}
          </span>
        )}
        <span className="col-span-2 col-start-2 truncate text-[0.8125rem] text-soft">
          {row.state === "needs_you" && <Loud word={stateWord(row.state)} className={stateColour(row.state)} />}
          {row.unobserved && <Loud word="Unseen" className="text-ink" />}
          {row.state !== "idle" && row.state !== "needs_you" && (
            <>
              <span className={stateColour(row.state)}>{stateWord(row.state)}</span>
              {" · "}
            </>
          )}
          {row.agent} · {baseName(row.project)}
        </span>
      </Link>
      {hovering.shown && (
        <Anchored anchor={anchor} side="right" label={`Titles of “${titleOf(row)}”`} className="w-88 max-w-[calc(100vw-1rem)]" onPressElsewhere={hovering.hide}>
          <TitleCard row={row} writable={fenceOf(row) === null} onGone={hovering.hide} />
        </Anchored>
      )}
    </div>
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

function baseName(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? path;
}
