// The page of tokens and cost: what is unknown is said to be, and nothing is 0 because of it.
import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { inApp } from "../app/inApp";
import type { UsageBy, UsagePage as Page, Used } from "../wire/usage";
import { dayOf, shortDay } from "./days";
import UsagePage from "./UsagePage";

afterEach(cleanup);

function used(part: Partial<Used>): Used {
  return { tokens: { input: 0, output: 0 }, totalTokens: 0, turns: 1, unknownTurns: 0, cost: [], basis: "unknown", unpricedTokens: 0, ...part };
}

const PAID = used({ tokens: { input: 1000, output: 500, cachedRead: 8000 }, totalTokens: 9500, turns: 2, cost: [{ amount: "0.42", currency: "USD" }], basis: "computed" });
const SILENT = used({ turns: 1, unknownTurns: 1 });

function server(rows: Partial<Record<Page["by"], UsageBy[]>>, total: Used) {
  const http = {
    usage: ({ by, from, to }: { by: string; from: string; to: string }) => {
      const page: Page = { by, from, to, rows: rows[by] ?? [], total, today: { day: to, used: SILENT, limit: null, warning: null }, pricesAsOf: "2026-10-16", nextCursor: null };
      return Promise.resolve({ ok: true, value: page });
    },
  };
  return inApp({ http });
}

test("totals, a plot and tables", async () => {
  const today = dayOf(new Date());
  const rows = {
    day: [{ key: today, used: PAID }],
    agent: [
      { key: "claude", used: PAID },
      { key: "kimi", used: SILENT },
    ],
    model: [
      { key: "claude-opus-5-5", used: PAID },
      { key: null, used: SILENT },
    ],
    project: [{ key: "/home/ada/engine", used: PAID }],
    work: [{ key: null, used: PAID }],
  };
  render(<UsagePage />, server(rows, { ...PAID, turns: 3, unknownTurns: 1 }));
  const agents = await screen.findByRole("region", { name: "By agent, table" });
  expect(within(agents).getByRole("row", { name: /claude/ }).textContent).toContain("~$0.42");
  expect(within(agents).getByRole("row", { name: /kimi/ }).textContent).toBe("kimi1unknownunknownunknownunknownunknown");
  expect(screen.getByRole("figure", { name: "Cost by day" }).textContent).toContain(`Highest: ~$0.42 on ${shortDay(today)}`);
  expect(screen.getByText("~$0.42 + unknown")).toBeTruthy();
  expect(screen.getByText("1 of 3 turns did not report usage.")).toBeTruthy();
  expect(screen.getByText("No session of this time belongs to a piece of work.")).toBeTruthy();
  expect(document.body.textContent).not.toMatch(/\$0\.00|\b0 %/);
});

test("before anything was used it says where usage comes from", async () => {
  render(<UsagePage />, server({}, used({ turns: 0 })));
  expect(await screen.findByText("No turn has ended in this time.")).toBeTruthy();
});

test("a failure is said", async () => {
  render(<UsagePage />, inApp({ http: { usage: () => Promise.resolve({ ok: false, failure: { kind: "unreachable" } }) } }));
  expect(await screen.findByRole("alert")).toBeTruthy();
});
