// What completes a query while it is typed.
import { expect, test } from "vitest";

import type { KnownValues } from "./query";
import { completionsAt, withFilter } from "./query";

const KNOWN: KnownValues = {
  agents: ["claude", "codex", "guide"],
  works: [
    { name: "the loom", project: "/home/ada/loom" },
    { name: "weft", project: "/srv/weft" },
    { name: "the loom", project: "/srv/mill" },
  ],
  projects: ["/home/ada/loom", "/srv/loom", "/home/ada/my cloth"],
  now: Date.parse("2026-03-10T12:00:00Z"),
};
const labels = (query: string, caret = query.length) => completionsAt(query, caret, KNOWN).map(({ label }) => label);
const accept = (query: string, index = 0, caret = query.length) => {
  const completion = completionsAt(query, caret, KNOWN)[index];
  return completion === undefined ? null : `${completion.query.slice(0, completion.caret)}|${completion.query.slice(completion.caret)}`;
};

test.each([
  ["ag", ["agent:"]],
  ["loom -fi", ["-file:"]],
  // One letter is the start of too many words, and a whole word is a word.
  ["a", []],
  ["loom", []],
  ["loom ", []],
  ["agent:", ["agent:claude", "agent:codex", "agent:guide"]],
  ["agent:C", ["agent:claude", "agent:codex"]],
  ["agent:claude", []],
  ["project:loo", ["project:loom"]],
  ["work:", ["work:the loom", "work:weft"]],
  ["-work:We", ["-work:weft"]],
  ["outcome:", ["outcome:fail", "outcome:ok"]],
  ["after:2026-03-0", ["after:2026-03-09", "after:2026-03-03"]],
  ["file:shuttle", []],
  ["nonsense:x", []],
  ['"the agent:', []],
])("%j offers %j", (query, expected) => {
  expect(labels(query)).toEqual(expected);
});

test("a name waits for its value, a value ends with a space", () => {
  expect(accept("warp ag")).toBe("warp agent:|");
  expect(accept("warp agent:co")).toBe("warp agent:codex |");
  expect(accept("-role:a")).toBe("-role:answer |");
});

test("what follows the caret stays, and nothing is completed inside of a word", () => {
  expect(accept("agent:co weft", 0, 8)).toBe("agent:codex |weft");
  expect(labels("agent:codex", 8)).toEqual([]);
});

test("a value with spaces is quoted", () => {
  expect(accept("project:cl")).toBe('project:"my cloth" |');
  expect(accept("work:lo")).toBe('work:"the loom" |');
});

test("a work that several projects have is offered once, with all of them", () => {
  expect(completionsAt("work:lo", 7, KNOWN).map(({ hint }) => hint)).toEqual(["in loom, mill"]);
});

test("a filter is added after what is there", () => {
  expect(withFilter("", "file")).toBe("file:");
  expect(withFilter("weft  ", "file")).toBe("weft file:");
});
