// Numbers with their nouns.
import { expect, test } from "vitest";

import { counted } from "./counted";

test.each([
  [0, "turn", undefined, "0 turns"],
  [1, "turn", undefined, "1 turn"],
  [12_000, "turn", undefined, "12,000 turns"],
  [2, "entry", "entries", "2 entries"],
])("%i of %s", (count, one, several, words) => {
  expect(counted(count, one, several)).toBe(words);
});
