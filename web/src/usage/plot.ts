// Where the bars of a plot stand: pure, so that it can be tested without drawing.
import type { UsageBy, Used } from "../wire/usage";

export type Measure = "cost" | "tokens";

export interface Bar {
  readonly day: string;
  readonly used: Used | null;
  /** From 0 to 1, of the highest; null where nothing is known of the day's cost though it was used. */
  readonly height: number | null;
}

/** The one currency that a plot can show: the first that there is, or none. */
export function plotCurrency(rows: readonly UsageBy[]): string | null {
  return rows.flatMap(({ used }) => used.cost)[0]?.currency ?? null;
}

export function valueOf(used: Used, measure: Measure, currency: string | null): number {
  if (measure === "tokens") {
    return used.totalTokens;
  }
  return Number(used.cost.find((cost) => cost.currency === currency)?.amount ?? 0);
}

/** A bar for every day, also for those of which nothing is told. */
export function barsOf(days: readonly string[], rows: readonly UsageBy[], measure: Measure): Bar[] {
  const currency = plotCurrency(rows);
  const byDay = new Map(rows.map(({ key, used }) => [key, used]));
  const highest = Math.max(0, ...rows.map(({ used }) => valueOf(used, measure, currency)));
  return days.map((day) => {
    const used = byDay.get(day) ?? null;
    if (used === null) {
      return { day, used, height: 0 };
    }
    const value = valueOf(used, measure, currency);
    return { day, used, height: value === 0 ? null : value / highest };
  });
}
