// The contents: pages and entries, in whatever order they come.
import { expect, test } from "vitest";

import type { Entry, Toc } from "../wire/names";
import type { Contents } from "./contents";
import { applyToContents, cursorOf, EMPTY_CONTENTS, isPromptsWords, pageOf, takeToc } from "./contents";

const AT = "2026-01-02T03:04:05.006Z";
const idOf = (turn: number) => `0190a8c0-0000-7000-8000-${String(turn).padStart(12, "0")}`;

type Happened = Omit<Entry, "seq" | "at">;

function happen(contents: Contents, ...events: Happened[]): Contents {
  return applyToContents(contents, events.map((event, index) => ({ ...event, seq: index + 1, at: AT }) as Entry));
}

const started = (turn: number) => ({ type: "turn.started", data: { turn, interactionId: idOf(turn) } }) as Happened;
const sent = (turn: number, text: string) => ({ type: "prompt.sent", data: { interactionId: idOf(turn), text } }) as Happened;
const ended = (turn: number, outcome = "completed") => ({ type: "turn.ended", data: { turn, outcome } }) as Happened;
const summed = (turn: number, summary: string) => ({ type: "summary.set", data: { turn, summary, by: "extract" } }) as Happened;

function page(from: number, to: number, summary: (turn: number) => string): Toc {
  const entries = Array.from({ length: to - from + 1 }, (_, index) => ({
    turn: from + index,
    id: idOf(from + index),
    summary: summary(from + index),
    summary_by: "extract" as const,
    created: AT,
    has_prompt: true,
    has_response: true,
    state: "completed" as const,
  }));
  return { session_id: idOf(0), session_name: "", total_turns: to, entries, formatted: "" };
}

const shown = (contents: Contents) => contents.lines.map((line) => (line === undefined ? "…" : `${line.turn} ${line.state} ${line.summary}`));

test("a turn shows its prompt until it is summed up, and how it stands", () => {
  const running = happen(EMPTY_CONTENTS, started(1), sent(1, "\n  [x] first\nsecond"));
  expect(shown(running)).toEqual(["1 running [x] first"]);
  expect(running.lines[0]?.summed).toBe(false);
  expect(shown(happen(running, ended(1), summed(1, "Wove the warp")))).toEqual(["1 completed Wove the warp"]);
  expect(shown(happen(running, ended(1, "interrupted")))).toEqual(["1 interrupted [x] first"]);
});

test("a long prompt is cut between characters", () => {
  const line = happen(EMPTY_CONTENTS, started(1), sent(1, "😀".repeat(90))).lines[0]?.summary;
  expect(line).toBe(`${"😀".repeat(79)}…`);
});

test("a later summary takes the place of an earlier one", () => {
  expect(shown(happen(EMPTY_CONTENTS, started(1), summed(1, "a"), summed(1, "b")))).toEqual(["1 running b"]);
});

test("what an entry said is not undone by a page that was written before it", () => {
  const live = happen(EMPTY_CONTENTS, ended(2, "failed"), summed(2, "by the model"));
  expect(shown(takeToc(live, 0, page(1, 3, (turn) => `read ${turn}`)))).toEqual([
    "1 completed read 1",
    "2 failed by the model",
    "3 completed read 3",
  ]);
});

test("a page that knows the summary fills in where only the prompt was known", () => {
  const live = happen(EMPTY_CONTENTS, started(1), sent(1, "the prompt"));
  expect(shown(takeToc(live, 0, page(1, 1, () => "the summary")))).toEqual(["1 running the summary"]);
});

test("pages come in any order, and what lies between them is not known", () => {
  const last = takeToc(EMPTY_CONTENTS, 2, page(1_001, 1_002, (turn) => `read ${turn}`));
  expect(last.lines).toHaveLength(1_002);
  expect(shown(last).slice(998)).toEqual(["…", "…", "1001 completed read 1001", "1002 completed read 1002"]);
  const both = takeToc(last, 0, page(1, 500, (turn) => `read ${turn}`));
  expect([...both.read]).toEqual([2, 0]);
  expect(shown(both)[499]).toBe("500 completed read 500");
  expect(shown(both)[500]).toBe("…");
});

test("pages are named by the turn before them", () => {
  expect([1, 500, 501, 1_000].map(pageOf)).toEqual([0, 0, 1, 1]);
  expect(cursorOf(2)).toBe("1000");
});

test("what says nothing of the contents leaves the value as it was", () => {
  const before = happen(EMPTY_CONTENTS, started(1));
  expect(happen(before, { type: "text.part", data: { turn: 1, block: 0, text: "x" } } as Happened)).toBe(before);
});

test.each([
  ["Mend the loom", "mend the **loom**", true],
  ["Mend the loom", "Please mend the loom, it sticks", true],
  ["Mend the loom that the shuttle…", "Mend the loom that the shuttle sticks in", true],
  ["The shuttle had a splinter", "why?", false],
  ["Mend the loom", null, false],
  ["Mend the loom", "", false],
])("%s is what %s asked: %s", (summary, prompt, is) => {
  expect(isPromptsWords(summary, prompt)).toBe(is);
});

test("a line knows its prompt, from an entry or from a page", () => {
  expect(happen(EMPTY_CONTENTS, started(1), sent(1, "why?"), summed(1, "The shuttle had a splinter")).lines[0]?.prompt).toBe("why?");
  const toc = page(1, 1, () => "The shuttle had a splinter");
  expect(takeToc(EMPTY_CONTENTS, 0, { ...toc, entries: toc.entries.map((entry) => ({ ...entry, prompt: "why?" })) }).lines[0]?.prompt).toBe("why?");
});
