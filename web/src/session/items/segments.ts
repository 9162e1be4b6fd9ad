// How the items of a turn are laid out: long runs of finished steps are one line, and a very long turn shows its end.
//
// Invariant: the layout is made once, when the turn comes into view, so that nothing that is being read folds away;
// items that come later stand below, one by one.
import type { Item, ToolCall } from "../../state/transcript";
import { stepWords } from "../../state/words";
import type { ToolKind } from "../../wire/names";

/** Items `from` up to, but not including, `to`. */
export interface Segment {
  kind: "item" | "run";
  from: number;
  to: number;
}

export interface Layout {
  segments: Segment[];
  /** So many segments are left out at first. */
  hidden: number;
  /** How many items it speaks of. */
  known: number;
}

/** Fewer steps than this are shown as they are. */
const SHORTEST_RUN = 9;
const MOST_SEGMENTS = 60;
const SHOWN_SEGMENTS = 40;

export function layoutOf(items: readonly Item[]): Layout {
  const segments: Segment[] = [];
  for (let at = 0; at < items.length; ) {
    const end = endOfRun(items, at);
    const steps = items.slice(at, end).filter(({ type }) => type === "tool").length;
    if (steps >= SHORTEST_RUN) {
      segments.push({ kind: "run", from: at, to: end });
      at = end;
    } else {
      for (const stop = Math.max(end, at + 1); at < stop; at++) {
        segments.push({ kind: "item", from: at, to: at + 1 });
      }
    }
  }
  const hidden = segments.length > MOST_SEGMENTS ? segments.length - SHOWN_SEGMENTS : 0;
  return { segments, hidden, known: items.length };
}

/** A run begins and ends with a finished call; thoughts between calls belong to it. */
function endOfRun(items: readonly Item[], from: number): number {
  let end = from;
  for (let at = from; at < items.length; at++) {
    const item = items[at];
    if (item?.type === "tool" && isFinished(item)) {
      end = at + 1;
    } else if (item?.type !== "thought" || end === from) {
      break;
    }
  }
  return end;
}

function isFinished({ status }: ToolCall): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** "12 steps", and of what kinds. */
export function runWords(items: readonly Item[]): { count: string; kinds: string; failed: string | null } {
  const calls = items.filter((item) => item.type === "tool");
  const kinds = new Map<ToolKind, number>();
  for (const { kind } of calls) {
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const failed = calls.filter(({ status }) => status === "failed").length;
  return {
    count: `${calls.length.toLocaleString("en")} steps`,
    kinds: [...kinds].map(([kind, count]) => stepWords(kind, count)).join(", "),
    failed: failed === 0 ? null : `${failed} failed`,
  };
}
