// Tokens and cost in words: what is unknown is said to be.
import { expect, test } from "vitest";

import type { Used } from "../wire/usage";
import { basisWords, briefestWords, briefWords, costWords, moneyWords, shortCount, unknownWords, warningWords } from "./usageWords";

function used(part: Partial<Used>): Used {
  return { tokens: { input: 0, output: 0 }, totalTokens: 0, turns: 1, unknownTurns: 0, cost: [], basis: "unknown", unpricedTokens: 0, ...part };
}

const USD = (amount: string) => [{ amount, currency: "USD" }];

test.each([
  [0, "0"],
  [999, "999"],
  [1_000, "1.0k"],
  [12_345, "12.3k"],
  [999_949, "999.9k"],
  [4_500_000, "4.5M"],
  [2_000_000_000, "2.0G"],
])("%d tokens read “%s”", (count, words) => {
  expect(shortCount(count)).toBe(words);
});

test.each([
  ["0", "USD", "$0.00"],
  ["12.3456", "USD", "$12.35"],
  ["0.42", "USD", "$0.42"],
  ["0.00042", "USD", "$0.00042"],
  ["5", "EUR", "€5.00"],
  ["5", "no money", "5.00 no money"],
  ["many", "USD", "unknown"],
])("%s %s reads “%s”", (amount, currency, words) => {
  expect(moneyWords({ amount, currency })).toBe(words);
});

test.each<[Partial<Used>, string]>([
  [{ unknownTurns: 1 }, "tokens and cost unknown"],
  [{ totalTokens: 1200, unpricedTokens: 1200 }, "1.2k tokens · cost unknown"],
  [{ totalTokens: 1200, cost: USD("0.5"), basis: "stated" }, "1.2k tokens · $0.50"],
  [{ totalTokens: 1200, cost: USD("0.5"), basis: "computed" }, "1.2k tokens · ~$0.50"],
  [{ totalTokens: 1200, cost: USD("0.5"), basis: "both", unpricedTokens: 7 }, "1.2k tokens · ~$0.50 + unknown"],
  [{ cost: USD("0.5"), basis: "stated" }, "$0.50"],
])("%j reads “%s”", (part, words) => {
  expect(briefWords(used(part))).toBe(words);
});

test("where there is hardly any room the cost goes before the tokens", () => {
  expect(briefestWords(used({ totalTokens: 1200, cost: USD("0.5"), basis: "stated" }))).toBe("$0.50");
  expect(briefestWords(used({ totalTokens: 1200, unpricedTokens: 1200 }))).toBe("1.2k tokens");
  expect(briefestWords(used({}))).toBe("cost unknown");
});

test("nothing is ever 0 because it is unknown", () => {
  expect(costWords(used({ totalTokens: 5, unpricedTokens: 5 }))).toBe("unknown");
  expect(basisWords(used({ totalTokens: 5 }))).toBe("No price is known for its model.");
  expect(basisWords(used({}))).toBe("The agent did not say what it used.");
});

test("what is unknown is named, with what to do about it", () => {
  expect(unknownWords(used({ totalTokens: 5 }))).toBeNull();
  expect(unknownWords(used({ totalTokens: 1200, unpricedTokens: 1200, unpricedModels: ["lab/scripted"] }))).toBe("No price for lab/scripted: 1.2k tokens. Add it under [prices] in config.toml.");
  expect(unknownWords(used({ totalTokens: 1200, unpricedTokens: 1200 }))).toBe("No price for 1.2k tokens: the agent did not name its model.");
  expect(unknownWords(used({ turns: 3, unknownTurns: 2 }))).toBe("2 of 3 turns did not report usage.");
});

test("a limit that was crossed is told with what was spent", () => {
  const [spent, limit] = [USD("5.2")[0], USD("5")[0]];
  expect(spent && limit && warningWords("This session", { spent, limit })).toBe("This session has cost $5.20, more than the $5.00 that you set.");
});
