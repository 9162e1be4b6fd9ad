// The list: its order, rows that move, and pages that are not read yet.
import { expect, test } from "vitest";

import type { SessionPage, SessionRow } from "../wire/names";
import { keyOfCursor, knownRows, listedRows, putRow, removeRow, takeFirstPage, takePage, takeRows, UNREAD_LIST } from "./sessionList";

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

const first = (read: SessionPage) => takeFirstPage(UNREAD_LIST, read, []);
const ids = (list: Parameters<typeof listedRows>[0]) => listedRows(list).map(({ id }) => id).join(" ");

test("most recently active first, ids telling rows of one instant apart", () => {
  const list = first(page([row("a", 1), row("c", 2), row("b", 2)]));
  expect(ids(list)).toBe("c b a");
});

test("a row that becomes active moves and is not doubled", () => {
  const list = first(page([row("b", 2), row("a", 1)]));
  expect(ids(putRow(list, row("a", 3)))).toBe("a b");
});

test("deleted and removed rows are not listed", () => {
  const list = first(page([row("c", 3), row("b", 2), row("a", 1)]));
  expect(ids(removeRow(list, "b"))).toBe("c a");
  expect(ids(putRow(list, row("c", 3, { deletedAt: "2026-01-02T03:09:00.000Z" })))).toBe("b a");
});

test("a row below the last page that was read is known but not listed until its page is read", () => {
  let list = first(page([row("e", 5), row("d", 4)], "cursor"));
  list = putRow(list, row("a", 1));
  expect(ids(list)).toBe("e d");
  expect(list.rows.has("a")).toBe(true);
  list = takePage(list, page([row("c", 3), row("b", 2)], "next"), "cursor");
  expect(ids(list)).toBe("e d c b");
  list = takePage(list, page([row("a", 1)]), "next");
  expect(ids(list)).toBe("e d c b a");
  expect(list.extent.kind).toBe("whole");
});

test("a page that was asked for before the list began anew leaves no hole", () => {
  const read = takePage(first(page([row("e", 5), row("d", 4)], "after d")), page([row("c", 3)], "after c"), "after d");
  const anew = takeFirstPage(read, page([row("f", 6), row("e", 5)], "after e"), []);
  expect(takePage(anew, page([row("b", 2)], "after b"), "after c")).toBe(anew);
  expect(ids(takePage(anew, page([row("d", 4)]), "after e"))).toBe("f e d");
  expect(takePage(first(page([row("e", 5)])), page([row("b", 2)]), "after c").extent.kind).toBe("whole");
  expect(anew.generation).toBe(read.generation + 1);
});

test("a page that comes late changes neither what was told of a session meanwhile nor the counts", () => {
  let list = first({ ...page([row("e", 5)], "after e"), unobservedCount: 4, needsYouCount: 2 });
  list = putRow(list, row("d", 6, { state: "running" }));
  // A question does not move its session.
  list = putRow(list, row("c", 3, { state: "needs_you" }));
  list = removeRow(list, "b");
  list = takePage(list, page([row("d", 4), row("c", 3), row("b", 2), row("a", 1)]), "after e");
  expect(ids(list)).toBe("d e c a");
  expect([list.rows.get("d")?.state, list.rows.get("c")?.state]).toEqual(["running", "needs_you"]);
  expect([list.unobservedCount, list.needsYouCount]).toEqual([4, 2]);
  // A list that begins anew knows better than all that was told before it.
  const anew = takeFirstPage(list, { ...page([row("b", 7), row("d", 6)]), needsYouCount: 1 }, []);
  expect([ids(anew), anew.rows.get("d")?.state, anew.needsYouCount]).toEqual(["b d", "idle", 1]);
});

test("the first page after a reconnect replaces what may have missed changes", () => {
  const before = first(page([row("b", 2), row("gone", 1)]));
  expect(ids(takeFirstPage(before, page([row("b", 2)]), ["gone"]))).toBe("b");
});

test("a first page that comes again keeps the rows of open sessions that lie below it; those that nobody had read to stay unlisted", () => {
  let before = first(page([row("e", 5), row("d", 4)], "cursor"));
  before = putRow(putRow(before, row("open", 1)), row("other", 2));
  const again = takeFirstPage(before, page([row("f", 6), row("e", 5)], "cursor"), ["open", "never-heard-of"]);
  expect(ids(again)).toBe("f e d");
  expect([...again.rows.keys()]).toEqual(["f", "e", "open"]);
});

test("what was listed stays below a first page that comes again, until its own page has come", () => {
  const read = takePage(first(page([row("e", 5), row("d", 4)], "after d")), page([row("c", 3), row("b", 2)], "after b"), "after d");
  // While nobody listened, c was deleted and b became active.
  let list = takeFirstPage(read, page([row("b", 6), row("e", 5)], "after e"), []);
  expect(ids(list)).toBe("b e d c");
  expect(ids(putRow(list, row("d", 7)))).toBe("d b e c");
  expect(ids(removeRow(list, "d"))).toBe("b e c");
  expect(list.rows.has("c")).toBe(false);
  // Lost once more before that: it is still the same list.
  list = takeFirstPage(list, page([row("b", 6), row("e", 5)], "after e"), []);
  expect(ids(list)).toBe("b e d c");
  list = takePage(list, page([row("d", 4), row("a", 1)], "after a"), "after e");
  expect(ids(list)).toBe("b e d a");
  expect(list.before).toBeNull();
  expect(ids(takeFirstPage(list, page([row("b", 6)]), []))).toBe("b");
});

test("an open session that belongs on the page and is not on it is gone", () => {
  const before = first(page([row("e", 5), row("open", 4), row("c", 3)], "cursor"));
  expect(ids(takeFirstPage(before, page([row("e", 5), row("c", 3)], "cursor"), ["open"]))).toBe("e c");
  expect(takeFirstPage(before, page([row("e", 5)]), ["open"]).rows.has("open")).toBe(false);
});

test("what is pinned or needs the person is listed however old it is, and counted by the server", () => {
  const foremost = [row("asks", 0, { state: "needs_you" }), row("pinned", 1, { pinnedAt: "2026-01-02T03:09:00.000Z" })];
  const list = first({ ...page([row("e", 5), row("d", 4)], "cursor"), foremost, needsYouCount: 7 });
  expect(ids(list)).toBe("e d pinned asks");
  expect(list.needsYouCount).toBe(7);
});

test("archived rows leave the list and come back", () => {
  const list = first(page([row("b", 2), row("a", 1)]));
  const archived = putRow(list, row("b", 2, { archivedAt: "2026-01-02T03:09:00.000Z" }));
  expect(ids(archived)).toBe("a");
  expect(ids(putRow(archived, row("b", 3)))).toBe("b a");
});

test("what a filter found is known, and shown down to where its pages were read", () => {
  const list = takeRows(first(page([row("e", 5)], "cursor")), [row("c", 3), row("a", 1)]);
  expect(ids(list)).toBe("e");
  const found = (last: ReturnType<typeof keyOfCursor>) => knownRows(list, ({ id }) => id !== "e", last).map(({ id }) => id).join(" ");
  expect(found(null)).toBe("c a");
  expect(found(keyOfCursor(`${Date.parse("2026-01-02T03:03:00.000Z")}.c`))).toBe("c");
  expect(keyOfCursor("nonsense")).toBeNull();
});

test("what a filter finds late puts back nothing that was told of since", () => {
  const archivedAt = "2026-01-02T03:09:00.000Z";
  const told = removeRow(putRow(first(page([row("c", 3), row("b", 2), row("a", 1)])), row("b", 2, { archivedAt })), "a");
  const list = takeRows(told, [row("d", 4), row("b", 2), row("a", 1)]);
  expect(ids(list)).toBe("d c");
  expect(list.rows.get("b")?.archivedAt).toBe(archivedAt);
});
