// Who waits for the person, and how the list, the window's title and the app's badge say so.
import { expect, test } from "vitest";

import type { SessionRow, SessionState } from "../wire/names";
import { attentionOf, attentionWords, titlePrefix } from "./attention";
import { UNREAD_LIST } from "./sessionList";

function listOf(states: SessionState[], unobservedCount: number, change: Partial<SessionRow> = {}) {
  const rows = new Map(states.map((state, index) => [String(index), { id: String(index), state, deletedAt: null, ...change } as SessionRow]));
  return attentionOf({ ...UNREAD_LIST, rows, unobservedCount });
}

test.each([
  [[], 0, "null, All caught up", ""],
  [["idle"], 1, "null, 1 unseen answer", "• "],
  [["idle"], 3, "null, 3 unseen answers", "• "],
  [["needs_you"], 0, "1 needs you, null", "(1) "],
  [["needs_you", "running", "needs_you"], 2, "2 need you, 2 unseen", "(2) "],
] satisfies [SessionState[], number, string, string][])("%j with %i unseen reads %s", (states, unseen, words, prefix) => {
  const attention = listOf(states, unseen);
  const { needYou, rest } = attentionWords(attention);
  expect(`${needYou}, ${rest}`).toBe(words);
  expect(titlePrefix(attention)).toBe(prefix);
});

test("a deleted session needs nobody", () => {
  expect(listOf(["needs_you"], 0, { deletedAt: "2026-01-02T03:04:05.006Z" }).needYou).toBe(0);
});
