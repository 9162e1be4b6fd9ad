// The bars of a plot, and the days that they stand for.
import { expect, test } from "vitest";

import type { UsageBy, Used } from "../wire/usage";
import { daysBetween, longDay, rangeOf, shortDay } from "./days";
import { barsOf } from "./plot";

function row(key: string, totalTokens: number, amount: string | null): UsageBy {
  const used: Used = {
    tokens: { input: totalTokens, output: 0 },
    totalTokens,
    turns: 1,
    unknownTurns: 0,
    cost: amount === null ? [] : [{ amount, currency: "USD" }],
    basis: amount === null ? "unknown" : "stated",
    unpricedTokens: 0,
  };
  return { key, used };
}

test("each day has a bar, of the highest one's measure; what is unknown is no zero", () => {
  const rows = [row("2026-11-18", 10, null), row("2026-11-17", 40, "2"), row("2026-11-15", 20, "1")];
  const heights = (measure: "cost" | "tokens") => barsOf(daysBetween("2026-11-15", "2026-11-18"), rows, measure).map(({ height }) => height);
  expect(heights("tokens")).toEqual([0.5, 0, 1, 0.25]);
  expect(heights("cost")).toEqual([0.5, 0, 1, null]);
});

test("without anything there is nothing to draw", () => {
  expect(barsOf(["2026-11-18"], [], "cost")).toEqual([{ day: "2026-11-18", used: null, height: 0 }]);
});

test("days are those of the calendar, over months and leap days", () => {
  expect(rangeOf(7, new Date(2028, 2, 2, 12).getTime())).toEqual({ from: "2028-02-25", to: "2028-03-02" });
  expect(daysBetween("2028-02-28", "2028-03-01")).toEqual(["2028-02-28", "2028-02-29", "2028-03-01"]);
  expect(shortDay("2026-11-18")).toBe("Nov 18");
  expect(longDay("2026-11-18")).toBe("Wed, Nov 18, 2026");
});
