// The lines of the list: what comes first, what is grouped, and what is folded behind the newest of its work.
import { expect, test } from "vitest";

import type { SessionRow } from "../wire/names";
import type { Work } from "../wire/work";
import type { Arranging } from "./lines";
import { linesOf } from "./lines";

const NOW = Date.parse("2026-11-18T12:00:00.000Z");
const works = new Map([["w", { id: "w", name: "Loom", sessionIds: [] } as unknown as Work]]);
const arranging: Arranging = { grouping: "day", works, open: new Set(), folds: true, now: NOW };

function row(id: string, hoursAgo: number, change: Partial<SessionRow> = {}): SessionRow {
  return { id, agent: "guide", project: "/home/ada/loom", state: "idle", activeAt: new Date(NOW - hoursAgo * 3_600_000).toISOString(), ...change } as SessionRow;
}

function drawn(rows: SessionRow[], change: Partial<Arranging> = {}): string {
  return linesOf(rows, { ...arranging, ...change })
    .map((line) => (line.kind === "heading" ? `[${line.words} ${line.count}]` : `${line.behind ? "> " : ""}${line.row.id}${line.fold === null ? "" : ` +${line.fold.count}`}`))
    .join(", ");
}

test("what needs the person is first, then what is pinned, then days", () => {
  const rows = [row("a", 1), row("pinned", 2, { pinnedAt: "2026-11-01T00:00:00.000Z" }), row("b", 24), row("asks", 50, { state: "needs_you" }), row("old", 24 * 40)];
  expect(drawn(rows)).toMatch(/^\[Needs you 1\], asks, \[Pinned 1\], pinned, \[Today 1\], a, \[Yesterday 1\], b, \[.+ 1\], old$/);
});

test("a pinned session that needs the person has one line", () => {
  expect(drawn([row("both", 1, { state: "needs_you", pinnedAt: "2026-11-01T00:00:00.000Z" })])).toBe("[Needs you 1], both");
});

test("sessions of one work are behind the newest, whatever their day, and can be shown", () => {
  const rows = [row("new", 1, { metaContextId: "w" }), row("other", 2), row("old", 30, { metaContextId: "w" }), row("older", 60, { metaContextId: "w" }), row("gone", 61, { metaContextId: "x" })];
  expect(drawn(rows)).toMatch(/^\[Today 4\], new \+2, other, \[\w+ 1\], gone$/);
  expect(drawn(rows, { open: new Set(["w"]) })).toMatch(/^\[Today 4\], new \+2, > old, > older, other, /);
  expect(drawn(rows, { folds: false })).toMatch(/^\[Today 2\], new, other, \[Yesterday 1\], old, /);
});

test("by project, by agent and by work, the group that was last active first", () => {
  const rows = [row("a", 1, { project: "/x/shop" }), row("b", 2, { metaContextId: "w", agent: "codex" }), row("c", 3, { project: "/x/shop" })];
  expect(drawn(rows, { grouping: "project" })).toBe("[shop 2], a, c, [loom 1], b");
  expect(drawn(rows, { grouping: "agent" })).toBe("[guide 2], a, c, [codex 1], b");
  expect(drawn(rows, { grouping: "work" })).toBe("[Other sessions 2], a, c, [Loom 1], b");
});

test("ten thousand rows are lines in little time", () => {
  const rows = Array.from({ length: 10_000 }, (_, index) => row(`s${index}`, index / 10, index % 3 === 0 ? { metaContextId: "w" } : {}));
  const began = performance.now();
  expect(linesOf(rows, { ...arranging, open: new Set(["w"]) }).filter(({ kind }) => kind === "session")).toHaveLength(10_000);
  expect(performance.now() - began).toBeLessThan(1_000);
});
