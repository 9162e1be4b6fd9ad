// What waits for the person: sessions that cannot go on without an answer, and answers that nobody has seen.
//
// Invariant: a session that needs the person counts even if it has been looked at. The server counts, so those that were
// never heard of here count too; archived ones do not.
import type { SessionList } from "./sessionList";

export interface Attention {
  readonly needYou: number;
  readonly unseen: number;
}

export function attentionOf({ needsYouCount, unobservedCount }: Pick<SessionList, "needsYouCount" | "unobservedCount">): Attention {
  return { needYou: needsYouCount, unseen: unobservedCount };
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
