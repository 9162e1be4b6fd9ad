// What is worth a notification when the list changes: a question that waits, and a turn that has ended.
//
// Invariant: each is found once, when its row changes; what the list held when it was first read is no news.
import type { SessionRow, SessionState } from "../wire/names";
import { baseName } from "./context";
import type { SessionList } from "./sessionList";
import { isDeleted } from "./sessionList";

export interface SessionNotice {
  readonly kind: "question" | "ended";
  readonly row: SessionRow;
}

/** In which a turn is under way. */
const BUSY: readonly SessionState[] = ["running", "needs_you", "unresponsive"];
/** In which it has ended. */
const AT_REST: readonly SessionState[] = ["idle", "interrupted", "failed"];

export function noticesOf(before: SessionList, after: SessionList): SessionNotice[] {
  if (before.extent.kind === "unread") {
    return [];
  }
  const notices: SessionNotice[] = [];
  for (const row of after.rows.values()) {
    const was = before.rows.get(row.id);
    if (was === undefined || was === row || isDeleted(row)) {
      continue;
    }
    if (row.state === "needs_you" && was.state !== "needs_you") {
      notices.push({ kind: "question", row });
    } else if (BUSY.includes(was.state) && AT_REST.includes(row.state) && row.unobserved) {
      notices.push({ kind: "ended", row });
    }
  }
  return notices;
}

/** Sessions whose question was answered, wherever that was done. */
export function answeredSince(before: SessionList, after: SessionList): SessionRow[] {
  return [...before.rows.values()].filter((row) => row.state === "needs_you" && after.rows.get(row.id)?.state !== "needs_you");
}

/** Sessions that came to rest unseen and have been looked at, wherever that was done. */
export function seenSince(before: SessionList, after: SessionList): SessionRow[] {
  return [...before.rows.values()].filter((row) => row.unobserved && after.rows.get(row.id)?.unobserved === false);
}

/** What a notification says: never what was asked or answered; the title only where the person wants it. */
export function noticeWords({ kind, row }: SessionNotice, title: string | null): { title: string; body: string } {
  const what = kind === "question" ? "Needs you" : row.state === "failed" ? "Failed" : row.state === "interrupted" ? "Interrupted" : "Done";
  const where = `${row.agent} in ${baseName(row.project)}`;
  return title === null ? { title: what, body: where } : { title, body: `${what} · ${where}` };
}
