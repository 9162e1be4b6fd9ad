// Folds the recorded logs that the server's own fold is held to, and compares.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

import type { Entry } from "../wire/names";
import type { Transcript } from "./transcript";
import { applyToTranscript, EMPTY_TRANSCRIPT } from "./transcript";

interface Fixture {
  name: string;
  entries: Entry[];
  transcript: Transcript;
}

const FOLDER = path.resolve(import.meta.dirname, "../../../fixtures/transcripts");
const fixtures = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => JSON.parse(readFileSync(path.join(FOLDER, file), "utf8")) as Fixture);

test("there are fixtures", () => {
  expect(fixtures.length).toBeGreaterThan(5);
});

test.each(fixtures)("$name", ({ entries, transcript }) => {
  expect(applyToTranscript(EMPTY_TRANSCRIPT, entries)).toEqual(transcript);
});

test.each(fixtures)("folding a prefix and then the rest is folding all: $name", ({ entries, transcript }) => {
  for (let cut = 0; cut <= entries.length; cut++) {
    const prefix = structuredClone(applyToTranscript(EMPTY_TRANSCRIPT, entries.slice(0, cut)));
    expect(applyToTranscript(prefix, entries.slice(cut))).toEqual(transcript);
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
