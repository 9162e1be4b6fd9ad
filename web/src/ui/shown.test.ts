// What cannot be seen is named, and nothing is left out.
import { expect, test } from "vitest";

import { inOneLine, printed, shown, shownExactly } from "./shown";

test("escapes, reversals and tags are named where they stand", () => {
  expect(shown("a\u001B]52;c;x\u0007b")).toBe("a␛]52;c;x␇b");
  expect(shown("rm \u202Etxt.exe\u2069")).toBe("rm ⟨U+202E⟩txt.exe⟨U+2069⟩");
  expect(shown("\u009Bm\u{E0041}\u007F")).toBe("⟨U+009B⟩m⟨U+E0041⟩␡");
});

test("line ends, tabs, joined emoji and other scripts stay as they are", () => {
  const text = "one\n\ttwo 👩‍👩‍👧 می‌خواهم שלום";
  expect(shown(text)).toBe(text);
  expect(shown("one\r\ntwo")).toBe("one\ntwo");
});

test("whoever decides sees joiners, fillers and blanks too", () => {
  expect(shownExactly("rm\u200B -rf\u3164/")).toEqual(["rm", "⟨U+200B⟩", " -rf", "⟨U+3164⟩", "/"]);
  expect(shownExactly("a\r\nb")).toEqual(["a", "␍", "\nb"]);
  expect(shownExactly("plain")).toEqual(["plain"]);
});

test("what a command printed loses its colours and nothing else", () => {
  expect(printed("\u001B[1;32mok\u001B[0m 10%\r20%\r\ndone\u001B[2K")).toBe("ok 10%\n20%\ndone␛[2K");
});

test("one line stays one line", () => {
  expect(inOneLine(" a\n\n b\tc ")).toBe("a b c");
});

test("very many marks on one letter are counted, for a browser hangs on them", () => {
  expect(shown(`a${"\u0301".repeat(30)}b`)).toBe(`a${"\u0301".repeat(30)}b`);
  expect(shown(`a${"\u0301".repeat(300_000)}b`)).toBe(`a${"\u0301".repeat(30)}⟨299,970 more marks on this letter⟩b`);
});

test("to decide by, each of them is named", () => {
  expect(shownExactly(`a${"\u0301".repeat(1_030)}\u0302b`)).toEqual([`a${"\u0301".repeat(30)}`, "⟨U+0301⟩×1,000⟨U+0302⟩", "b"]);
  expect(shownExactly("a\u200B\u200B\u200Cb")).toEqual(["a", "⟨U+200B⟩⟨U+200B⟩⟨U+200C⟩", "b"]);
});

test("what was drawn over is told in one pass", () => {
  expect(printed("a\r\r\nb\rc")).toBe("a\nb\nc");
  expect(printed("\r".repeat(1_000_000))).toHaveLength(1_000_000);
});
