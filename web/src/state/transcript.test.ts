// Folds the recorded logs that the server's own fold is held to, and compares.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

import type { Entry } from "../wire/names";
import type { Transcript } from "./transcript";
import { applyLargeToTranscript, applyToTranscript, EMPTY_TRANSCRIPT, readLarge } from "./transcript";

interface Fixture {
  name: string;
  entries: Entry[];
  /** Without forks where there are none. */
  transcript: Omit<Transcript, "forks"> & Partial<Pick<Transcript, "forks">>;
}

const FOLDER = path.resolve(import.meta.dirname, "../../../fixtures/transcripts");
const fixtures = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => JSON.parse(readFileSync(path.join(FOLDER, file), "utf8")) as Fixture);

test("there are fixtures", () => {
  expect(fixtures.length).toBeGreaterThan(5);
});

test.each(fixtures)("$name", ({ entries, transcript }) => {
  expect(applyToTranscript(EMPTY_TRANSCRIPT, entries)).toEqual({ forks: [], ...transcript, newer: [] });
});

test.each(fixtures)("folding a prefix and then the rest is folding all: $name", ({ entries, transcript }) => {
  for (let cut = 0; cut <= entries.length; cut++) {
    const prefix = structuredClone(applyToTranscript(EMPTY_TRANSCRIPT, entries.slice(0, cut)));
    expect(applyToTranscript(prefix, entries.slice(cut))).toEqual({ forks: [], ...transcript, newer: [] });
  }
});

test("turns that did not change are the same objects", () => {
  const fixture = fixtures.find(({ transcript }) => transcript.turns.length > 1);
  const entries = fixture?.entries ?? [];
  const before = applyToTranscript(EMPTY_TRANSCRIPT, entries.slice(0, -1));
  const after = applyToTranscript(EMPTY_TRANSCRIPT, entries);
  const again = applyToTranscript(before, entries.slice(-1));
  expect(again).toEqual(after);
  expect(again.turns[0]).toBe(before.turns[0]);
});

test("blocks are kept with the words they stand for, next steps and cards each by their own numbers", () => {
  const at = "2026-01-02T03:04:05.006Z";
  const span = { block: 0, start: 3, end: 9 };
  const next = { label: "Go on", command: "/plan", metaContext: "Loom" };
  const card = { kind: "tasks" as const, tasks: [] };
  const entries: Entry[] = [
    { seq: 1, at, type: "turn.started", data: { turn: 1, interactionId: "i" } },
    { seq: 2, at, type: "block.shown", data: { turn: 1, nth: 1, ...span, ...card } },
    { seq: 3, at, type: "next.offered", data: { turn: 1, nth: 1, block: 0, start: 12, end: 20, ...next } },
    { seq: 4, at, type: "next.offered", data: { turn: 1, nth: 2, block: 1, start: 0, end: 5, label: "Nowhere", command: "/x" } },
    { seq: 5, at, type: "next.clicked", data: { turn: 1, nth: 1, work: "w", session: "s", by: { type: "nobody" } } },
    { seq: 6, at, type: "next.offered", data: { turn: 7, nth: 1, ...span, ...next } },
  ];
  expect(applyToTranscript(EMPTY_TRANSCRIPT, entries).turns[0]?.blocks).toEqual([
    { nth: 1, ...span, shown: { card } },
    { nth: 1, block: 0, start: 12, end: 20, shown: { next } },
    { nth: 2, block: 1, start: 0, end: 5, shown: { next: { label: "Nowhere", command: "/x" } } },
  ]);
});

test("an entry that only a newer server knows stands where it came, whatever it holds, and changes nothing else", () => {
  const at = "2026-01-02T03:04:05.006Z";
  const fromTheFuture = (seq: number, type: string, more: object = {}) => ({ seq, at, type, ...more }) as unknown as Entry;
  const newer = (kind: string, count = 1) => ({ type: "newer", kind, count });
  const entries: Entry[] = [
    fromTheFuture(1, "session.dreamt"),
    { seq: 2, at, type: "turn.started", data: { turn: 1, interactionId: "i" } },
    fromTheFuture(3, "song.part", { data: { turn: 1, notes: [] } }),
    fromTheFuture(4, "song.part", { data: null }),
    { seq: 5, at, type: "text.part", data: { turn: 1, block: 0, text: "La" } },
    { seq: 6, at, type: "turn.ended", data: { turn: 1, outcome: "completed" } },
    // A name that every object has.
    fromTheFuture(7, "constructor", { data: "?" }),
  ];
  expect(applyToTranscript(EMPTY_TRANSCRIPT, entries.slice(0, 1))).toEqual({ ...EMPTY_TRANSCRIPT, newer: [newer("session.dreamt")] });
  const { turns, newer: left } = applyToTranscript(EMPTY_TRANSCRIPT, entries);
  expect(left).toEqual([]);
  expect(turns.map(({ items, outcome }) => ({ items, outcome }))).toEqual([
    { items: [newer("session.dreamt"), newer("song.part", 2), { type: "text", block: 0, text: "La" }, newer("constructor")], outcome: "completed" },
  ]);
  const large = applyLargeToTranscript({ ...EMPTY_TRANSCRIPT, turns }, { seq: 8, at, kind: "song.ended", bytes: 9, read: "" });
  expect(readLarge(large, fromTheFuture(8, "song.ended")).turns[0]?.items.at(-1)).toEqual(newer("song.ended"));
});
