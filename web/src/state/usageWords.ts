// Tokens and cost in words.
//
// Invariant: what nobody knows is said to be unknown, never 0. A cost that was computed carries a mark, so that it is not
// taken for what the agent said.
import type { Cost, UsageWarning, Used } from "../wire/usage";

export const UNKNOWN = "unknown";

/** "950", "12.3k", "4.5M". */
export function shortCount(count: number): string {
  const parts: [number, string][] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  for (const [unit, sign] of parts) {
    if (count >= unit * 0.99995) {
      return `${(count / unit).toFixed(1)}${sign}`;
    }
  }
  return String(count);
}

/** "1,234 tokens". */
export function tokenWords(used: Used): string {
  return used.totalTokens === 0 ? UNKNOWN : `${shortCount(used.totalTokens)} tokens`;
}

/** "$0.42"; more digits where two would show nothing. */
export function moneyWords({ amount, currency }: Cost): string {
  const value = Number(amount);
  if (!Number.isFinite(value)) {
    return UNKNOWN;
  }
  const digits = value === 0 || value >= 0.995 ? 2 : value >= 0.01 ? 3 : value >= 0.0001 ? 5 : 9;
  try {
    return new Intl.NumberFormat("en", { style: "currency", currency, minimumFractionDigits: 2, maximumFractionDigits: digits }).format(value);
  } catch {
    // Not a currency that the browser knows.
    return `${value.toFixed(digits)} ${currency.slice(0, 8)}`;
  }
}

/** "$0.42", "~$0.42" where it was computed, "$0.42 + unknown" where a part of it is not known. */
export function costWords(used: Used): string {
  if (used.cost.length === 0) {
    return UNKNOWN;
  }
  const mark = used.basis === "computed" || used.basis === "both" ? "~" : "";
  return `${mark}${used.cost.map(moneyWords).join(" + ")}${isPartlyUnknown(used) ? ` + ${UNKNOWN}` : ""}`;
}

/** Whether the cost of a part of it is not known. */
export function isPartlyUnknown(used: Used): boolean {
  return used.unknownTurns > 0 || used.unpricedTokens > 0;
}

export function isKnown(used: Used): boolean {
  return used.totalTokens > 0 || used.cost.length > 0;
}

/** "12.3k tokens · ~$0.42", in as few words as say it. */
export function briefWords(used: Used): string {
  if (!isKnown(used)) {
    return `tokens and cost ${UNKNOWN}`;
  }
  const cost = used.cost.length === 0 ? `cost ${UNKNOWN}` : costWords(used);
  return used.totalTokens === 0 ? cost : `${tokenWords(used)} · ${cost}`;
}

/** The same where there is hardly any room: the cost, or what is known instead. */
export function briefestWords(used: Used): string {
  return used.cost.length > 0 ? costWords(used) : used.totalTokens > 0 ? tokenWords(used) : `cost ${UNKNOWN}`;
}

/** Where the cost comes from, as a sentence. */
export function basisWords(used: Used): string {
  switch (used.basis) {
    case "stated":
      return "The agent said what it cost.";
    case "computed":
      return "Computed from the tokens and the table of prices.";
    case "both":
      return `The agents said ${used.stated?.map(moneyWords).join(" + ") ?? UNKNOWN}; the rest is computed from tokens and prices.`;
    case "unknown":
      return used.totalTokens === 0 ? "The agent did not say what it used." : "No price is known for its model.";
  }
}

/** What of it is unknown, and what to do about it; null if nothing is. */
export function unknownWords(used: Used): string | null {
  const words: string[] = [];
  if (used.unpricedTokens > 0) {
    const models = used.unpricedModels ?? [];
    const tokens = `${shortCount(used.unpricedTokens)} tokens`;
    words.push(
      models.length === 0
        ? `No price for ${tokens}: the agent did not name its model.`
        : `No price for ${models.slice(0, 5).join(", ")}: ${tokens}. Add it under [prices] in config.toml.`,
    );
  }
  if (used.unknownTurns > 0 && used.turns > 0) {
    words.push(used.unknownTurns === used.turns ? "The agent did not say what it used." : `${used.unknownTurns} of ${used.turns} turns did not report usage.`);
  }
  return words.length === 0 ? null : words.join(" ");
}

export function warningWords(what: string, { spent, limit }: UsageWarning): string {
  return `${what} has cost ${moneyWords(spent)}, more than the ${moneyWords(limit)} that you set.`;
}
