// The header's line of usage: what is known, or nothing.
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { SessionUsage, Used } from "../../wire/usage";
import { SessionUsageLine } from "./SessionUsageLine";
import { UsageContext } from "./UsageContext";
import { UsageBook } from "./usageBook";

afterEach(cleanup);

const UNCOUNTED: Used = { tokens: { input: 0, output: 0 }, totalTokens: 0, turns: 2, unknownTurns: 2, cost: [], basis: "unknown", unpricedTokens: 0 };

async function show(total: Used) {
  const book = new UsageBook(() => Promise.resolve({ ok: true, value: { total, models: [], turns: [] } as unknown as SessionUsage }));
  render(
    <UsageContext value={book}>
      <SessionUsageLine session="s" ended={2} />
    </UsageContext>,
  );
  await act(() => Promise.resolve());
  return book.of("s")?.newest.total;
}

test("a session whose agent says nothing of its usage has no line; one that says something has", async () => {
  expect(await show(UNCOUNTED)).toBe(UNCOUNTED);
  expect(screen.queryByRole("button")).toBeNull();
  cleanup();
  await show({ ...UNCOUNTED, totalTokens: 1_200, tokens: { input: 1_000, output: 200 } });
  expect(screen.getByRole("button").textContent).toContain("1.2k tokens");
});
