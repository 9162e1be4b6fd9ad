// The contents of a whole work: a line before each session, and what is read again.
import { expect, test } from "vitest";

import type { WorkTocEntry } from "../wire/work";
import { numberBefore, takeAfter, wholeRows } from "./wholeWork";

function entry(number: number, session: string, turn: number): WorkTocEntry {
  return { number, session_id: session, session_name: session.toUpperCase(), turn } as WorkTocEntry;
}

const entries = [entry(1, "a", 1), entry(2, "a", 2), entry(3, "b", 1)];

test("each session has a line before its turns", () => {
  expect(wholeRows(entries).map((row) => (row.kind === "session" ? row.name : `${row.entry.number} t${row.entry.turn}`))).toEqual(["A", "1 t1", "2 t2", "B", "3 t1"]);
});

test("what is read again takes the place of what was known from there on", () => {
  expect(numberBefore(entries, "b")).toBe(2);
  expect(numberBefore(entries, "c")).toBe(0);
  expect(takeAfter(entries, 2, [entry(3, "b", 1), entry(4, "b", 2)]).map(({ number }) => number)).toEqual([1, 2, 3, 4]);
});
