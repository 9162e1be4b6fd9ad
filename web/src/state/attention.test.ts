// Who waits for the person, and how the list, the window's title and the app's badge say so.
import { expect, test } from "vitest";

import { attentionOf, attentionWords, titlePrefix } from "./attention";

test.each([
  [0, 0, "null, All caught up", ""],
  [0, 1, "null, 1 unseen answer", "• "],
  [0, 3, "null, 3 unseen answers", "• "],
  [1, 0, "1 needs you, null", "(1) "],
  [2, 2, "2 need you, 2 unseen", "(2) "],
] satisfies [number, number, string, string][])("%i that wait with %i unseen read %s", (needsYouCount, unobservedCount, words, prefix) => {
  const attention = attentionOf({ needsYouCount, unobservedCount });
  const { needYou, rest } = attentionWords(attention);
  expect(`${needYou}, ${rest}`).toBe(words);
  expect(titlePrefix(attention)).toBe(prefix);
});
