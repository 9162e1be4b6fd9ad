// Which changes of the list are worth a notification, and what it says.
import { expect, test } from "vitest";

import type { SessionRow, SessionState } from "../wire/names";
import { answeredSince, noticesOf, noticeWords } from "./notices";
import type { SessionList } from "./sessionList";
import { UNREAD_LIST } from "./sessionList";

const ROW = { id: "s", agent: "claude", project: "/home/ada/loom", title: "key 4711", deletedAt: null, unobserved: false } as unknown as SessionRow;

function listOf(state: SessionState, change: Partial<SessionRow> = {}): SessionList {
  return { ...UNREAD_LIST, rows: new Map([["s", { ...ROW, state, ...change }]]), extent: { kind: "whole" }, generation: 1 };
}

const kinds = (before: SessionList, after: SessionList) => noticesOf(before, after).map(({ kind }) => kind);

test.each<[SessionState, SessionState, boolean, string[]]>([
  ["running", "needs_you", false, ["question"]],
  ["needs_you", "needs_you", false, []],
  ["running", "idle", true, ["ended"]],
  ["needs_you", "failed", true, ["ended"]],
  ["unresponsive", "interrupted", true, ["ended"]],
  // Somebody looks at it already.
  ["running", "idle", false, []],
  ["idle", "idle", true, []],
  ["starting", "idle", true, []],
  ["idle", "running", false, []],
])("from %s to %s, unseen %s", (before, after, unobserved, expected) => {
  expect(kinds(listOf(before), listOf(after, { unobserved }))).toEqual(expected);
});

test("what is read at first is no news, nor is what is deleted, nor a row that is new to the list", () => {
  expect(kinds(UNREAD_LIST, listOf("needs_you"))).toEqual([]);
  expect(kinds({ ...listOf("running"), rows: new Map() }, listOf("needs_you"))).toEqual([]);
  expect(kinds(listOf("running"), listOf("needs_you", { deletedAt: "2026-01-01T00:00:00.000Z" }))).toEqual([]);
});

test("a second question of the same turn is another notice", () => {
  expect(kinds(listOf("needs_you"), listOf("running"))).toEqual([]);
  expect(answeredSince(listOf("needs_you"), listOf("running")).map(({ id }) => id)).toEqual(["s"]);
  expect(kinds(listOf("running"), listOf("needs_you"))).toEqual(["question"]);
});

test("no words of the session are said, but for its title where that is wanted", () => {
  const [notice] = noticesOf(listOf("running"), listOf("needs_you"));
  if (notice === undefined) {
    throw new Error("there is one");
  }
  expect(noticeWords(notice, null)).toEqual({ title: "Needs you", body: "claude in loom" });
  expect(noticeWords(notice, "Mend the loom")).toEqual({ title: "Mend the loom", body: "Needs you · claude in loom" });
});
