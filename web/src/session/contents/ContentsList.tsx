// The contents as a list: the transcript's thread from further away, one knot a turn.
//
// Invariant: only the lines in sight are drawn, and the one that has the focus. The list moves to keep the turn that is
// read in sight, but never under a reader who is in the list.
import type { Range } from "@tanstack/react-virtual";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { KeyboardEvent } from "react";
import { memo, useEffect, useLayoutEffect, useRef, useState } from "react";

import type { Contents, ContentsLine } from "../../state/contents";
import { pageOf } from "../../state/contents";
import { stateColour } from "../../state/stateColour";
import type { KnotShape } from "../../ui/Knot";
import { Bead } from "../../ui/Knot";
import { inFull } from "../../ui/time";
import type { TurnState } from "../../wire/names";
import { LineWords, lineTitle } from "./LineWords";

interface ContentsListProps {
  contents: Contents;
  /** How many turns there are. */
  total: number;
  /** The turn that is read. */
  current: number | null;
  /** The running turn waits for the person. */
  asking: boolean;
  /** How high a line is. */
  linePx: number;
  className?: string;
  onJump(turn: number): void;
  /** A page is in sight that has not been read. */
  onMissing(page: number): void;
}

export const ContentsList = memo(function ContentsList({ contents, total, current, asking, linePx, className = "", onJump, onMissing }: ContentsListProps) {
  const scroller = useRef<HTMLElement>(null);
  // Where the arrow keys have come to, while the list has the focus.
  const [moved, setMoved] = useState<number | null>(null);
  const stop = Math.min(moved ?? current ?? total, total);
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => linePx,
    overscan: 10,
    // What is drawn first is what is read first.
    initialOffset: () => Math.max(0, (stop - 12) * linePx),
    paddingStart: 4,
    paddingEnd: 12,
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return stop < 1 || shown.includes(stop - 1) ? shown : [...shown, stop - 1].toSorted((a, b) => a - b);
    },
  });
  const items = virtualizer.getVirtualItems();

  useLayoutEffect(() => {
    if (current !== null) {
      virtualizer.scrollToIndex(current - 1, { align: "center" });
    }
    // Only on opening; later the effect below moves it as little as it must.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  useEffect(() => {
    if (current !== null && scroller.current?.contains(document.activeElement) === false) {
      virtualizer.scrollToIndex(current - 1, { align: "auto" });
    }
  }, [current, virtualizer]);

  const missing = [...new Set(items.map(({ index }) => pageOf(index + 1)))].filter((page) => !contents.read.has(page)).join();
  useEffect(() => {
    for (const page of missing === "" ? [] : missing.split(",")) {
      onMissing(Number(page));
    }
  }, [missing, onMissing]);

  useEffect(() => {
    if (moved !== null) {
      scroller.current?.querySelector<HTMLElement>(`[data-turn="${moved}"]`)?.focus({ preventScroll: true });
    }
  }, [moved]);
  const press = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / linePx) - 1);
    const steps: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    const to = Math.min(Math.max(stop + step, 1), total);
    virtualizer.scrollToIndex(to - 1, { align: "auto" });
    setMoved(to);
  };

  return (
    <nav
      ref={scroller}
      aria-label="Contents"
      className={`min-h-0 overflow-y-auto overscroll-contain ${className}`}
      onKeyDown={press}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          setMoved(null);
        }
      }}
    >
      {total === 0 ? (
        <p className="px-4 py-2 text-sm text-soft">Each turn will have a line here.</p>
      ) : (
        <ol className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ key, index, start }) => (
            <li
              key={key}
              aria-posinset={index + 1}
              aria-setsize={total}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)`, height: linePx }}
            >
              <Line
                turn={index + 1}
                line={contents.lines[index]}
                first={index === 0}
                last={index === total - 1}
                current={index + 1 === current}
                asking={asking}
                isStop={index + 1 === stop}
                digits={String(total).length}
                onJump={onJump}
              />
            </li>
          ))}
        </ol>
      )}
    </nav>
  );
});

interface LineProps {
  turn: number;
  line: ContentsLine | undefined;
  first: boolean;
  last: boolean;
  current: boolean;
  asking: boolean;
  /** The Tab key stops here. */
  isStop: boolean;
  /** How many the longest number has. */
  digits: number;
  onJump(turn: number): void;
}

const Line = memo(function Line({ turn, line, first, last, current, asking, isStop, digits, onJump }: LineProps) {
  const state = line?.state ?? null;
  const word = state === null ? null : STATE_WORDS[state];
  const summary = line?.summary ?? null;
  return (
    <a
      href={`#t${turn}`}
      data-turn={turn}
      tabIndex={isStop ? 0 : -1}
      aria-current={current ? "location" : undefined}
      title={line?.startedAt ? lineTitle(summary ?? "", line.prompt, inFull(line.startedAt)) : undefined}
      className={`relative flex h-full items-center gap-2.5 rounded-lg pr-2.5 pl-8 text-sm -outline-offset-2 ${current ? "ground-press" : "hover:bg-press/60"}`}
      onClick={(event) => {
        if (event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
          event.preventDefault();
          onJump(turn);
        }
      }}
    >
      <span
        aria-hidden="true"
        className={`thread-line left-4! ${first ? "top-1/2!" : ""} ${last ? "bottom-1/2!" : ""} ${first && last ? "hidden" : ""}`}
      />
      <span className="absolute top-1/2 left-[9px] -translate-y-1/2">
        <Bead shape={shapeOf(state, asking)} />
      </span>
      <span className={`shrink-0 text-right text-xs tabular-nums ${current ? "text-ink" : "text-soft"}`} style={{ minWidth: `${digits}ch` }}>
        <span className="sr-only">Turn </span>
        {turn}
      </span>
      {summary === null ? (
        <span aria-hidden="true" className="h-2.5 w-3/5 rounded bg-press" />
      ) : (
        <LineWords summary={summary} prompt={line?.prompt ?? null} current={current} />
      )}
      {word !== null && (
        <span className={`shrink-0 text-xs ${state === null ? "" : stateColour(state, asking)}`}>
          {state === "running" && asking ? "Needs you" : word}
        </span>
      )}
    </a>
  );
});

/** Said where a turn did not simply end. */
const STATE_WORDS: Record<TurnState, string | null> = {
  running: "Running",
  completed: null,
  cancelled: "Stopped",
  failed: "Failed",
  interrupted: "Interrupted",
};

function shapeOf(state: TurnState | null, asking: boolean): KnotShape {
  switch (state) {
    case null:
      return "ahead";
    case "running":
      return asking ? "asking" : "breathing";
    case "completed":
      return "solid";
    case "cancelled":
      return "hollow";
    case "failed":
      return "crossed";
    case "interrupted":
      return "cut";
  }
}
