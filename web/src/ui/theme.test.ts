// The palettes: each meaning has a colour of its own, readable on every ground it stands on, in every theme.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync("src/ui/theme.css", "utf8");
const [plain = "", contrastBlock = ""] = css.split(':root[data-theme="contrast"]');

type Palette = Readonly<Record<string, string>>;

/** Each colour is a pair, for light and for dark. */
function coloursOf(text: string, dark: boolean): Palette {
  const pairs = text.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g);
  return Object.fromEntries([...pairs].map(([, name = "", light = "", other = ""]) => [name, dark ? other : light]));
}

const PALETTES: readonly (readonly [name: string, palette: Palette, text: number, line: number])[] = [
  ["light", coloursOf(plain, false), 4.5, 3],
  ["dark", coloursOf(plain, true), 4.5, 3],
  ["high contrast, light", coloursOf(contrastBlock, false), 7, 4.5],
  ["high contrast, dark", coloursOf(contrastBlock, true), 7, 4.5],
];
const MEANINGS = ["thread", "focus", "running", "failed", "warning"];
const CODE = ["code-keyword", "code-string", "code-constant", "code-function"];
const GROUNDS = ["paper", "shade", "press"];

/** Which words stand on which grounds. */
const WORDS: readonly (readonly [words: readonly string[], grounds: readonly string[]])[] = [
  [[...MEANINGS, "ink", "soft"], GROUNDS],
  [["ink", ...CODE], ["paper", "shade", "added", "removed"]],
  [["ink"], ["found"]],
  // Filled: the primary button, and hidden characters.
  [["paper"], ["ink", "failed"]],
];

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/** In degrees. */
function hue(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour);
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue);
  const sixth = most === red ? (green - blue) / range : most === green ? 2 + (blue - red) / range : 4 + (red - green) / range;
  return (sixth * 60 + 360) % 360;
}

/** The pairs that are too close, and how close they are. */
function weak(palette: Palette, words: readonly string[], grounds: readonly string[], least: number): string[] {
  return words.flatMap((word) =>
    grounds.flatMap((ground) => {
      const found = contrast(palette[word] ?? "", palette[ground] ?? "");
      return found >= least ? [] : [`${word} on ${ground}: ${found.toFixed(2)}`];
    }),
  );
}

test("both blocks have the same colours", () => {
  const [light, , contrastLight] = PALETTES.map(([, palette]) => Object.keys(palette).toSorted());
  expect(light?.length).toBeGreaterThan(15);
  expect(contrastLight).toEqual(light);
});

test.each(PALETTES)("in %s, all words can be read on the grounds that they stand on", (_, palette, text) => {
  expect(WORDS.flatMap(([words, grounds]) => weak(palette, words, grounds, text))).toEqual([]);
});

test.each(PALETTES)("in %s, the edges of fields and what has the focus are seen", (_, palette, __, line) => {
  expect(weak(palette, ["edge", "focus"], ["paper", "shade"], line)).toEqual([]);
});

test.each(PALETTES)("in %s, no two meanings have one colour", (_, palette) => {
  const hues = [...MEANINGS, "found"].map((meaning) => [meaning, hue(palette[meaning] ?? "")] as const);
  const close = hues.flatMap(([meaning, one], index) =>
    hues.slice(index + 1).flatMap(([other, two]) => {
      const apart = Math.min(Math.abs(one - two), 360 - Math.abs(one - two));
      // What was looked for is a ground; amber words on it would still be two things.
      return apart < 20 && !(meaning === "warning" && other === "found") ? [`${meaning} and ${other}: ${apart.toFixed(0)}°`] : [];
    }),
  );
  expect(close).toEqual([]);
});
