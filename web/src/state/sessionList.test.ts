// The list: its order, rows that move, and pages that are not read yet.
import { expect, test } from "vitest";

import type { SessionPage, SessionRow } from "../wire/names";
import { listedRows, putRow, removeRow, takeFirstPage, takePage, UNREAD_LIST } from "./sessionList";

function row(id: string, minute: number, change: Partial<SessionRow> = {}): SessionRow {
  const at = `2026-01-02T03:${String(minute).padStart(2, "0")}:00.000Z`;
  return {
    id,
    agent: "guide",
    cwd: "/home/ada",
    project: "/home/ada",
    title: id,
    state: "idle",
    readOnly: null,
    failure: null,
    turns: 0,
    unobserved: false,
    createdAt: at,
    activeAt: at,
    deletedAt: null,
    meta: { name: "", lastObservedAt: null, lastIdleAt: null, currentIntent: null, envHint: null, context: {} },
    facts: {},
    ...change,
  };
}

function page(sessions: SessionRow[], nextCursor: string | null = null): SessionPage {
  return { sessions, metaContexts: [], unobservedCount: 1, nextCursor };
}

const ids = (list: Parameters<typeof listedRows>[0]) => listedRows(list).map(({ id }) => id).join(" ");

test("most recently active first, ids telling rows of one instant apart", () => {
  const list = takeFirstPage(UNREAD_LIST, page([row("a", 1), row("c", 2), row("b", 2)]));
  expect(ids(list)).toBe("c b a");
});

test("a row that becomes active moves and is not doubled", () => {
  const list = takeFirstPage(UNREAD_LIST, page([row("b", 2), row("a", 1)]));
  expect(ids(putRow(list, row("a", 3)))).toBe("a b");
});

test("deleted and removed rows are not listed", () => {
  const list = takeFirstPage(UNREAD_LIST, page([row("c", 3), row("b", 2), row("a", 1)]));
  expect(ids(removeRow(list, "b"))).toBe("c a");
  expect(ids(putRow(list, row("c", 3, { deletedAt: "2026-01-02T03:09:00.000Z" })))).toBe("b a");
});

test("a row below the last page that was read is known but not listed until its page is read", () => {
  let list = takeFirstPage(UNREAD_LIST, page([row("e", 5), row("d", 4)], "cursor"));
  list = putRow(list, row("a", 1));
  expect(ids(list)).toBe("e d");
  expect(list.rows.has("a")).toBe(true);
  list = takePage(list, page([row("c", 3), row("b", 2)], "next"));
  expect(ids(list)).toBe("e d c b");
  list = takePage(list, page([row("a", 1)]));
  expect(ids(list)).toBe("e d c b a");
  expect(list.extent.kind).toBe("whole");
});

test("the first page after a reconnect replaces what may have missed changes", () => {
  const before = takeFirstPage(UNREAD_LIST, page([row("b", 2), row("gone", 1)]));
  expect(ids(takeFirstPage(before, page([row("b", 2)])))).toBe("b");
});
