// Ranges count characters, not the units that JavaScript counts.
import { expect, test } from "vitest";

import { markedPieces } from "./marked";

const show = (text: string, ranges: [number, number][]) =>
  markedPieces(text, ranges)
    .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
    .join("");

test.each<[string, [number, number][], string]>([
  ["the loom is still", [[4, 8]], "the [loom] is still"],
  ["😀😀 loom", [[3, 7]], "😀😀 [loom]"],
  ["a𝕏b", [[1, 2]], "a[𝕏]b"],
  ["日本語 織機", [[4, 6]], "日本語 [織機]"],
  ["e\u0301cole", [[0, 2]], "[e\u0301]cole"],
  ["loom", [[0, 4]], "[loom]"],
  ["loom", [], "loom"],
  ["", [[0, 3]], ""],
  ["two looms", [[4, 9], [0, 3]], "[two] [looms]"],
  ["overlap", [[0, 4], [2, 6]], "[over][la]p"],
  ["outside", [[5, 99], [40, 50], [3, 3]], "outsi[de]"],
])("%s %j", (text, ranges, expected) => {
  expect(show(text, ranges)).toBe(expected);
});
