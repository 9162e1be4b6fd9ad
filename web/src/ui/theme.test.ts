// The palette: each meaning has a colour of its own, readable on every ground, in light and in dark.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync("src/ui/theme.css", "utf8");
const [light = "", dark = ""] = css.split("prefers-color-scheme: dark");

type Palette = Readonly<Record<string, string>>;

function coloursOf(text: string): Palette {
  return Object.fromEntries([...text.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", value = ""]) => [name, value]));
}

const PALETTES: Readonly<Record<string, Palette>> = { light: coloursOf(light), dark: { ...coloursOf(light), ...coloursOf(dark) } };
const MEANINGS = ["thread", "focus", "running", "failed", "warning"];
const GROUNDS = ["paper", "shade", "press"];

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

test.each(Object.entries(PALETTES))("in %s, words of every meaning can be read on every ground", (_, palette) => {
  const weak = [...MEANINGS, "ink", "soft"].flatMap((meaning) =>
    GROUNDS.map((ground) => [meaning, ground, contrast(palette[meaning] ?? "", palette[ground] ?? "")] as const).filter(([, , found]) => !(found >= 4.5)),
  );
  expect(weak).toEqual([]);
  expect(contrast(palette["ink"] ?? "", palette["found"] ?? "")).toBeGreaterThanOrEqual(4.5);
});

test.each(Object.entries(PALETTES))("in %s, no two meanings have one colour", (_, palette) => {
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
