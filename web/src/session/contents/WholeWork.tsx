// The contents of the whole work that the session belongs to: one numbered list, with a line before each session.
//
// Invariant: only the lines in sight are drawn. A line leads to its turn where the session is open, else to the session at
// that turn.
import { useVirtualizer } from "@tanstack/react-virtual";
import type { KeyboardEvent } from "react";
import { useEffect, useMemo, useRef } from "react";

import { wholeRows } from "../../state/wholeWork";
import { Link } from "../../ui/Link";
import { inOneLine } from "../../ui/shown";
import { inFull } from "../../ui/time";
import type { SessionId } from "../../wire/names";
import type { WorkId, WorkTocEntry } from "../../wire/work";
import { LineWords, lineTitle } from "./LineWords";
import type { TurnRead } from "./useTurnInView";
import { useWorkContents } from "./useWorkContents";

interface WholeWorkProps {
  work: WorkId;
  session: SessionId;
  /** Turns of the open session; with a new one the list is read again from there. */
  turns: number;
  /** The turn that is read, of whichever session. */
  read: TurnRead | null;
  linePx: number;
  className: string;
  onJump(turn: number): void;
  /** Another session is gone to. */
  onLeave?: (() => void) | undefined;
}

export function WholeWork({ work, session, turns, read, linePx, className, onJump, onLeave }: WholeWorkProps) {
  const scroller = useRef<HTMLElement>(null);
  const { entries, words } = useWorkContents(work, session, turns);
  const rows = useMemo(() => wholeRows(entries), [entries]);
  const here = rows.findIndex((row) => row.kind === "turn" && row.entry.session_id === (read?.past ?? session) && row.entry.turn === read?.turn);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => linePx,
    overscan: 10,
    paddingStart: 4,
    paddingEnd: 12,
  });
  useEffect(() => {
    if (here >= 0 && scroller.current?.contains(document.activeElement) === false) {
      virtualizer.scrollToIndex(here, { align: "auto" });
    }
  }, [here, virtualizer]);
  const items = virtualizer.getVirtualItems();
  const stop = items.some(({ index }) => index === here) ? here : items.find(({ index }) => rows[index]?.kind === "turn")?.index;
  const digits = String(entries.at(-1)?.number ?? 1).length;

  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const lines = [...(scroller.current?.querySelectorAll<HTMLElement>("a[data-line]") ?? [])];
    const at = lines.findIndex((line) => line === document.activeElement);
    if (step !== 0 && at >= 0) {
      event.preventDefault();
      lines[Math.min(Math.max(at + step, 0), lines.length - 1)]?.focus();
    }
  };

  return (
    <nav ref={scroller} aria-label="Contents of the whole work" className={`min-h-0 overflow-y-auto overscroll-contain ${className}`} onKeyDown={press}>
      {words !== null ? (
        <p role="status" className="px-4 py-2 text-sm text-soft">
          {words}
        </p>
      ) : (
        <ol className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const row = rows[index];
            return (
              <li key={key} className="absolute inset-x-0 top-0" style={{ transform: `translateY(${start}px)`, height: linePx }}>
                {row?.kind === "session" ? (
                  <h3 className="flex h-full items-end px-2 pb-1 text-[0.8125rem] font-semibold" title={inOneLine(row.name)}>
                    <span className="truncate" dir="auto">
                      {row.name === "" ? "Untitled session" : inOneLine(row.name)}
                    </span>
                  </h3>
                ) : (
                  row !== undefined && (
                    <Line entry={row.entry} open={row.entry.session_id === session} current={index === here} isStop={index === stop} digits={digits} onJump={onJump} onLeave={onLeave} />
                  )
                )}
              </li>
            );
          })}
        </ol>
      )}
    </nav>
  );
}

interface LineProps {
  entry: WorkTocEntry;
  /** Its session is the open one. */
  open: boolean;
  current: boolean;
  /** The Tab key stops here. */
  isStop: boolean;
  digits: number;
  onJump(turn: number): void;
  onLeave?: (() => void) | undefined;
}

function Line({ entry, open, current, isStop, digits, onJump, onLeave }: LineProps) {
  const { number, session_id, turn, summary, prompt = null, created } = entry;
  return (
    <Link
      href={`/s/${session_id}#t${turn}`}
      data-line=""
      tabIndex={isStop ? 0 : -1}
      aria-current={current ? "location" : undefined}
      title={lineTitle(summary, prompt, inFull(created))}
      className={`relative flex h-full items-center gap-2.5 rounded-lg px-2.5 text-sm -outline-offset-2 ${current ? "ground-press" : "hover:bg-press/60"}`}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
          return;
        }
        if (open) {
          event.preventDefault();
          onJump(turn);
        } else {
          onLeave?.();
        }
      }}
    >
      <span className={`shrink-0 text-right text-xs tabular-nums ${current ? "text-ink" : "text-soft"}`} style={{ minWidth: `${digits}ch` }}>
        {number}
      </span>
      <LineWords summary={summary} prompt={prompt} current={current} />
    </Link>
  );
}
