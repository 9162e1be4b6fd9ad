// Terminal text: what is coloured, what is left out, and what a hostile program cannot do.
import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

import { plainText, terminalLines } from "./ansi";

const plain = (text: string) => plainText(terminalLines(text));
/** Each run as `text` or `{look}text`. */
const marked = (text: string) => terminalLines(text).map((runs) => runs.map(({ look, text: words }) => (look === "" ? words : `{${look}}${words}`)).join(""));

test.each([
  ["\x1b[31mred\x1b[0m plain", "{ansi-fg-1}red plain"],
  ["\x1b[1;32mok\x1b[m.", "{ansi-fg-2 ansi-bold}ok."],
  ["\x1b[91;44mboth", "{ansi-fg-9 ansi-bg-4}both"],
  ["\x1b[2mdim\x1b[22m not", "{ansi-dim}dim not"],
  ["\x1b[3;4mslanted\x1b[23;24m", "{ansi-italic ansi-underline}slanted"],
  ["\x1b[9mgone\x1b[29m", "{ansi-struck}gone"],
  ["\x1b[38;5;196mcube", "{ansi-fg-1}cube"],
  ["\x1b[38;5;12mtable", "{ansi-fg-12}table"],
  ["\x1b[38;5;240mgrey", "{ansi-fg-8}grey"],
  ["\x1b[38;2;0;128;0mtrue", "{ansi-fg-2}true"],
  ["\x1b[38:2::120:180:255mcolons", "{ansi-fg-12}colons"],
  ["\x1b[48;2;255;255;255mwhite", "{ansi-bg-15}white"],
  ["\x1b[38;5;196;1mand bold", "{ansi-fg-1 ansi-bold}and bold"],
  ["\x1b[58;5;1mcolour of the line", "colour of the line"],
  ["\x1b[7minverse", "{ansi-paper ansi-ink}inverse"],
  ["\x1b[7;31minverse red", "{ansi-bg-1}inverse red"],
  ["\x1b[7;41minverse on red", "{ansi-fg-1}inverse on red"],
  ["\x1b[8mhidden", "hidden"],
  ["\x1b[4:3mcurly\x1b[4:0mnone", "{ansi-underline}curlynone"],
  ["\x1b[38;5mshort", "short"],
  ["\x1b[38;5;999mtoo far", "too far"],
  ["\x1b[>4;1mprivate", "private"],
  ["\u009b31mone character", "{ansi-fg-1}one character"],
])("%j", (text, expected) => {
  expect(marked(text)).toEqual([expected]);
});

test("a look lasts over the end of a line", () => {
  expect(marked("\x1b[31mone\ntwo\x1b[0m\nthree")).toEqual(["{ansi-fg-1}one", "{ansi-fg-1}two", "three"]);
});

test("a line is drawn over as a terminal does it", () => {
  expect(plain("10 %\r50 %\r100 %\ndone\r\n")).toBe("100 %\ndone");
  expect(plain("downloading\rdone")).toBe("doneloading");
  expect(plain("downloading\r\x1b[Kdone")).toBe("done");
  expect(plain("abc\x1b[2Kd")).toBe("   d");
  expect(plain("abcd\b\b\x1b[1KX")).toBe("  Xd");
  expect(plain("ab\b\bxy\b\b\b\b\bz")).toBe("zy");
  expect(plain("a\tb\n1234567\t8\n12345678\t9")).toBe("a       b\n1234567 8\n12345678        9");
});

test("whatever else a terminal obeys is left out", () => {
  expect(plain("\x1b[2J\x1b[H\x1b[10;20Hhere\x1b[?25l\x1b[6n\x1bc\x1b(B\x1b=!")).toBe("here!");
  expect(plain("\x1b]0;a title\x07shown\x1b]52;c;c3RvbGVu\x1b\\ too")).toBe("shown too");
  expect(plain("\x1b]8;;https://elsewhere.example\x1b\\a link\x1b]8;;\x1b\\.")).toBe("a link.");
  expect(plain("\x1bPq#0;2;0;0;0\x1b\\\x1b_hidden\x1b\\\u009dalso\u009c.")).toBe(".");
  expect(plain("a\x07b\x00c")).toBe("abc");
});

test("a sequence that does not end takes its own line alone", () => {
  expect(plain("one\x1b]0;never ends\ntwo")).toBe("one\ntwo");
  expect(plain("one\x1b[31\ntwo")).toBe("one\ntwo");
  expect(plain("one\x1b")).toBe("one");
  expect(plain("one\x1b[")).toBe("one");
});

test("hidden characters have names, and marks do not pile up", () => {
  expect(plain("a\u202Ebc\u0001")).toBe("a⟨U+202E⟩bc␁");
  const piled = plain(`z${"\x1b[31m\u0301\x1b[32m\u0301".repeat(500)}.`);
  expect(piled).toBe(`z${"\u0301".repeat(30)}⟨970 more marks on this letter⟩.`);
  expect(plain("👩‍👩‍👧 ok")).toBe("👩‍👩‍👧 ok");
});

test("lines are counted as the server counts them", () => {
  expect(terminalLines("")).toEqual([]);
  expect(terminalLines("a\n\nb\n")).toHaveLength(3);
  expect(terminalLines("a\nb")).toHaveLength(2);
});

test("any two colours of the palette can be read on each other, in light and in dark", () => {
  const sheet = readFileSync(path.resolve("src/session/outputs/TerminalText.css"), "utf8");
  const theme = readFileSync(path.resolve("src/ui/theme.css"), "utf8");
  const pairs = (text: string, name: RegExp) => [...text.matchAll(name)].map(([, ...parts]) => parts);
  const grounds = pairs(theme, /--(?:paper|shade): light-dark\((#\w+), (#\w+)\)/g).slice(0, 2);
  const tints = pairs(sheet, /\.ansi-bg-\d+[^{]*\{[^}]*background: light-dark\((#\w+), (#\w+)\)/g);
  const inks = pairs(sheet, /\.ansi-(?:fg-\d+)[^{]*\{[^}]*color: light-dark\((#\w+), (#\w+)\)/g);
  expect([grounds.length, tints.length, inks.length]).toEqual([2, 8, 8]);
  for (const scheme of [0, 1]) {
    const faint = inks.flatMap((ink) => [...grounds, ...tints].map((ground) => [ink[scheme], ground[scheme], contrast(ink[scheme] ?? "", ground[scheme] ?? "")] as const)).filter(([, , ratio]) => ratio < 4.5);
    expect(faint).toEqual([]);
  }
});

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
