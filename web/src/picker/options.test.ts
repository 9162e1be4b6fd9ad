// What the picker offers: its groups, their entries, which stay while typing, and what is chosen.
import { expect, test } from "vitest";

import { NO_WORKS, takeWorks } from "../state/works";
import type { SessionRow } from "../wire/names";
import type { Work } from "../wire/work";
import { chosenOf, groupsOf, hrefOf, isMatch, sessionLabel } from "./options";

const AT = "2026-01-02T03:04:05.006Z";

function work(id: string, name: string, sessionIds: string[], change: Partial<Work> = {}): Work {
  return { id, name, project: "/home/ada/loom", sessionIds, createdAt: AT, addedAt: AT, ...change };
}

function row(id: string, title: string, change: Partial<SessionRow> = {}): SessionRow {
  return { id, title, deletedAt: null, ...change } as SessionRow;
}

const works = takeWorks(NO_WORKS, [work("w", "Loom", ["s1", "s2"])]);
const rows = [row("s2", "Second", { metaContextId: "w" }), row("a", "Alone"), row("s1", "First", { metaContextId: "w" }), row("b", "Belonged", { metaContextId: "gone" })];

function listed(of: ReturnType<typeof groupsOf>, input = ""): Record<string, string[]> {
  const groups = of.map(({ label, options }) => [label, options.filter((option) => isMatch(option, input)).map((option) => option.label)] as const);
  return Object.fromEntries(groups.filter(([, options]) => options.length > 0));
}

test("works and the sessions that stand for themselves are two groups; members of a work are not listed", () => {
  expect(listed(groupsOf(works, "Specs", rows))).toEqual({ Specs: ["Loom"], Sessions: ["Alone", "Belonged"] });
});

test("the group of works is called as the server says", () => {
  expect(listed(groupsOf(works, "Projects", rows))).toEqual({ Projects: ["Loom"], Sessions: ["Alone", "Belonged"] });
});

test("typing keeps the headers of groups that have matches, and hides the others", () => {
  const groups = groupsOf(works, "Specs", rows);
  expect(listed(groups, "LO")).toEqual({ Specs: ["Loom"], Sessions: ["Alone", "Belonged"] });
  expect(listed(groups, "loom")).toEqual({ Specs: ["Loom"] });
  expect(listed(groups, "alo")).toEqual({ Sessions: ["Alone"] });
  expect(listed(groups, "alone loom")).toEqual({});
});

test("without works there is no group of them; the sessions have theirs always", () => {
  expect(groupsOf(NO_WORKS, "Specs", []).map(({ label }) => label)).toEqual(["Sessions"]);
  expect(listed(groupsOf(NO_WORKS, "Specs", []))).toEqual({ Sessions: ["No session outside of a piece of work"] });
  expect(listed(groupsOf(NO_WORKS, "Specs", []), "x")).toEqual({});
});

test("a work without sessions is not offered, nor a deleted session", () => {
  expect(listed(groupsOf(takeWorks(NO_WORKS, [work("w", "Empty", [])]), "Specs", [row("d", "Deleted", { deletedAt: AT }), row("a", "Alone")]))).toEqual({ Sessions: ["Alone"] });
});

test("works come newest addition first, and those of one name say their project", () => {
  const many = takeWorks(NO_WORKS, [
    work("1", "Loom", ["s"], { addedAt: "2026-01-01T00:00:00.000Z" }),
    work("2", "Weft", ["s"], { addedAt: "2026-01-03T00:00:00.000Z" }),
    work("3", "Loom", ["s"], { addedAt: "2026-01-02T00:00:00.000Z", project: "/home/ada/mill" }),
  ]);
  const [group] = groupsOf(many, "Specs", []);
  expect(group?.options.map((option) => (option.kind === "work" ? [option.label, option.about, option.tail] : option))).toEqual([
    ["Weft", null, null],
    ["Loom", "/home/ada/mill", "mill"],
    ["Loom", "/home/ada/loom", "loom"],
  ]);
});

test("a work leads to its newest session, and is what is chosen while any of its sessions is open", () => {
  const groups = groupsOf(works, "Specs", rows);
  const chosen = chosenOf(groups, works, row("s1", "First", { metaContextId: "w" }));
  expect(chosen?.label).toBe("Loom");
  expect(chosen && hrefOf(chosen)).toBe("/s/s2");
  expect(chosenOf(groups, works, row("a", "Alone"))?.label).toBe("Alone");
  expect(chosenOf(groups, works, undefined)).toBeNull();
});

test("a session shows the first line of its title, at most sixty characters of it", () => {
  expect(sessionLabel(row("a", "One line\nand another"))).toBe("One line");
  expect(sessionLabel(row("a", "x".repeat(60)))).toBe("x".repeat(60));
  expect(sessionLabel(row("a", "x".repeat(61)))).toBe(`${"x".repeat(60)}…`);
  expect(sessionLabel(row("a", "", { title: null }))).toBe("Untitled session");
});
