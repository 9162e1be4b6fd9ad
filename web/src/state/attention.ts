// What waits for the person: sessions that cannot go on without an answer, and answers that nobody has seen.
//
// Invariant: a session that needs the person counts even if it has been looked at. Only rows that were heard of count; what
// begins to need somebody is always heard of.
import type { SessionList } from "./sessionList";
import { isDeleted } from "./sessionList";

export interface Attention {
  readonly needYou: number;
  readonly unseen: number;
}

/** It is asked for with every word that arrives, and the list may be long. */
const known = new WeakMap<SessionList, Attention>();

export function attentionOf(list: SessionList): Attention {
  const before = known.get(list);
  if (before !== undefined) {
    return before;
  }
  const needYou = [...list.rows.values()].filter((row) => row.state === "needs_you" && !isDeleted(row)).length;
  const attention = { needYou, unseen: list.unobservedCount };
  known.set(list, attention);
  return attention;
}

/** "2 need you" and "1 unseen". */
export function attentionWords({ needYou, unseen }: Attention): { needYou: string | null; rest: string | null } {
  return {
    needYou: needYou === 0 ? null : needYou === 1 ? "1 needs you" : `${needYou} need you`,
    rest: unseen > 0 ? (needYou > 0 ? `${unseen} unseen` : unseen === 1 ? "1 unseen answer" : `${unseen} unseen answers`) : needYou > 0 ? null : "All caught up",
  };
}

/** What stands before the window's title: a number asks for an answer, a dot says that there is something to read. */
export function titlePrefix({ needYou, unseen }: Attention): string {
  return needYou > 0 ? `(${needYou}) ` : unseen > 0 ? "• " : "";
}
