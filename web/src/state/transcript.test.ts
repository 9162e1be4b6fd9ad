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
