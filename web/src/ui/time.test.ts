// How long ago something was, as the end of a sentence.
import { expect, test } from "vitest";

import { sinceWords } from "./time";

const NOW = Date.parse("2026-11-18T15:00:00Z");

test.each([
  ["2026-11-18T14:59:30Z", /^just now$/],
  ["2026-11-18T14:55:00Z", /^5 min ago$/],
  ["2026-11-18T12:00:00Z", /^3 h ago$/],
  ["2026-11-03T12:00:00Z", /^on .*3/],
])("%s is “%s”", (at, words) => {
  expect(sinceWords(at, NOW)).toMatch(words);
});
