// The lines of the list, of which only those in sight are drawn, and the one that has the focus.
//
// Invariant: the list never moves under a reader: what comes in is drawn where it belongs, and only keys scroll.
import type { Range } from "@tanstack/react-virtual";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { FocusEvent, MouseEvent, RefObject } from "react";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";

import type { SessionId } from "../wire/names";
import type { WorkId } from "../wire/work";
import type { ListLine } from "./lines";
import { SessionRow } from "./SessionRow";
import type { Selection } from "./useSelection";

const HEADING_PX = 34;
const ROW_PX = 50;
/** So many lines before the end, the next page is read. */
const READ_AHEAD = 15;

/** What the keys ask of the lines. */
export interface LinesHandle {
  move(step: 1 | -1): void;
}

interface SessionLinesProps {
  lines: readonly ListLine[];
  /** There are no more than these. */
  whole: boolean;
  current: SessionId | null;
  now: number;
  selection: Selection;
  scroller: RefObject<HTMLElement | null>;
  handle: RefObject<LinesHandle | null>;
  /** The row that has the focus, or had it when a dialog took it. The same function each time. */
  onFocused(row: SessionId | null): void;
  /** The same function each time: rows are drawn again otherwise. */
  onFold(work: WorkId): void;
  onEnd(): void;
}

export function SessionLines({ lines, whole, current, now, selection, scroller, handle, onFocused, onFold, onEnd }: SessionLinesProps) {
  const list = useRef<HTMLUListElement>(null);
  const [moved, setMoved] = useState<SessionId | null>(null);
  const wanted = useRef<SessionId | null>(null);
  /** The row with the focus, and where it stood when the lines were last drawn. */
  const held = useRef<{ row: SessionId; at: number } | null>(null);
  const at = moved === null ? -1 : lines.findIndex((line) => line.key === moved);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === "heading" ? HEADING_PX : ROW_PX),
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 8,
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return at < 0 || shown.includes(at) ? shown : [...shown, at].toSorted((a, b) => a - b);
    },
  });
  const items = virtualizer.getVirtualItems();
  const lastDrawn = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastDrawn >= lines.length - READ_AHEAD) {
      onEnd();
    }
  }, [lastDrawn, lines.length, onEnd]);

  // The open session's row is in view when it is opened, wherever from; later the list stays where it was scrolled to.
  const brought = useRef<SessionId | null>(null);
  useEffect(() => {
    if (brought.current !== current && lines.length > 0) {
      brought.current = current;
      const index = lines.findIndex((line) => line.key === current);
      if (index >= 0) {
        virtualizer.scrollToIndex(index, { align: "auto" });
      }
    }
  }, [current, lines, virtualizer]);

  useEffect(() => () => onFocused(null), [onFocused]);
  // A row that is archived takes the focus away with it: the one that comes up in its place has it then.
  useLayoutEffect(() => {
    const last = held.current;
    if (last === null) {
      return;
    }
    const now = lines.findIndex((line) => line.key === last.row);
    if (now >= 0) {
      last.at = now;
      return;
    }
    held.current = null;
    const next = lines.findIndex((line, index) => index >= last.at && line.kind === "session");
    const index = next >= 0 ? next : lines.findLastIndex((line) => line.kind === "session");
    const line = lines[index];
    if (document.activeElement === document.body && line?.kind === "session") {
      virtualizer.scrollToIndex(index, { align: "auto" });
      wanted.current = line.row.id;
      setMoved(line.row.id);
    }
  }, [lines, virtualizer]);
  useLayoutEffect(() => {
    if (wanted.current !== null) {
      const row = list.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
      if (row) {
        row.focus({ preventScroll: true });
        wanted.current = null;
      }
    }
  });
  useImperativeHandle(handle, () => ({
    move(step) {
      const stops = lines.flatMap((line, index) => (line.kind === "session" ? [{ index, id: line.row.id }] : []));
      const from = stops.findIndex(({ id }) => id === (rowAt(document.activeElement) ?? current));
      const to = from >= 0 ? from + step : step === 1 ? 0 : stops.length - 1;
      const stop = stops[Math.min(Math.max(to, 0), stops.length - 1)];
      if (stop !== undefined) {
        virtualizer.scrollToIndex(stop.index, { align: "auto" });
        wanted.current = stop.id;
        setMoved(stop.id);
        // It may be drawn already, and nothing else change.
        list.current?.querySelector<HTMLElement>(`[data-row="${stop.id}"]`)?.focus({ preventScroll: true });
      }
    },
  }));

  /** A press that chooses: with a modifier, or while others are chosen. It comes before the row's link opens the session. */
  const choose = (event: MouseEvent) => {
    const row = rowAt(event.target);
    if (row !== null && (event.shiftKey || event.metaKey || event.ctrlKey || selection.choosing)) {
      event.preventDefault();
      (event.shiftKey ? selection.reach : selection.toggle)(row);
    }
  };
  const focus = (event: FocusEvent) => {
    const row = rowAt(event.target);
    // It stays drawn wherever the list is scrolled to, and so it keeps the focus.
    setMoved(row);
    held.current = row === null ? null : { row, at: lines.findIndex((line) => line.key === row) };
    onFocused(row);
  };
  const blur = ({ relatedTarget }: FocusEvent) => {
    if (!(relatedTarget instanceof Element && relatedTarget.closest("dialog") !== null)) {
      held.current = null;
      onFocused(null);
    }
  };
  return (
    <ul ref={list} className="relative" style={{ height: virtualizer.getTotalSize() }} onClickCapture={choose} onFocus={focus} onBlur={blur}>
      {items.map(({ key, index, start }) => {
        const line = lines[index];
        return line === undefined ? null : (
          <li key={key} ref={virtualizer.measureElement} data-index={index} aria-posinset={index + 1} aria-setsize={whole ? lines.length : -1} className="absolute inset-x-0 top-0 pb-px" style={{ transform: `translateY(${start}px)` }}>
            {line.kind === "heading" ? (
              <h2 className={`flex items-baseline gap-2 px-2.5 pt-3 pb-1 text-xs font-semibold ${line.loud ? "text-thread" : "text-soft"}`}>
                <span className="truncate" dir="auto">
                  {line.words}
                </span>
                <span className="font-normal tabular-nums">{line.count}</span>
              </h2>
            ) : (
              <SessionRow
                row={line.row}
                work={line.work}
                current={line.row.id === current}
                now={now}
                chosen={selection.choosing ? selection.has(line.row.id) : null}
                foldedWork={line.fold?.work ?? null}
                foldedCount={line.fold?.count ?? 0}
                foldOpen={line.fold?.open ?? false}
                behind={line.behind}
                onFold={onFold}
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** The session whose row that is in. */
function rowAt(target: EventTarget | null): SessionId | null {
  return target instanceof Element ? (target.closest<HTMLElement>("[data-row]")?.dataset["row"] ?? null) : null;
}
