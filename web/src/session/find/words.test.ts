// Which words of a query are marked, and where.
import { expect, test } from "vitest";

import { placesOf, wordsOf } from "./words";

test.each<[string, boolean, string[]]>([
  ["warp", false, ["warp"]],
  ["warp weft", false, ["warp", "weft", "warp weft"]],
  ['"the warp" weft*', false, ["the warp", "weft"]],
  ["warp -weft file:a.rs -role:tool work:loom", false, ["warp"]],
  ["-\"not this\" that", false, ["that"]],
  ["!!! --", false, []],
  ["file:a.rs -x", true, ["file:a.rs -x"]],
  ["  ", true, []],
])("%j, exact %j", (query, exact, words) => {
  expect(wordsOf(query, exact)).toEqual(words);
});

const found = (text: string, words: string[], exact = false) => placesOf(text, words, exact).map(([from, to]) => text.slice(from, to));

test("places are in units of the text, whatever stands before them", () => {
  expect(placesOf("😀 loom, Loom", ["loom"], false)).toEqual([
    [3, 7],
    [9, 13],
  ]);
  expect(found("𝕏😀 織機の織機", ["織機"])).toEqual(["織機", "織機"]);
  // A letter that gets longer when it is made small moves nothing.
  expect(placesOf("İİ loom", ["loom"], false)).toEqual([[3, 7]]);
});

test("the longest is taken, and signs mean themselves", () => {
  expect(found("warp weft warp", ["warp", "warp weft"])).toEqual(["warp weft", "warp"]);
  expect(found("a.b a+b (a.b)", ["a.b"])).toEqual(["a.b", "a.b"]);
  expect(found("C:\\loom [x]", ["C:\\loom", "[x]"], true)).toEqual(["C:\\loom", "[x]"]);
});

test("a line's end is a space like others", () => {
  expect(found("the\n  warp", ["the warp"])).toEqual(["the\n  warp"]);
});

test("exact text without capitals is found in any case, with them as it stands", () => {
  expect(found("Loom loom", ["loom"], true)).toEqual(["Loom", "loom"]);
  expect(found("Loom loom", ["Loom"], true)).toEqual(["Loom"]);
});
