// Tokens and cost in small print, and what a press shows of them.
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { Used } from "../../wire/usage";
import { UsageDetails } from "./UsageDetails";

afterEach(cleanup);

// The test's own browser has no top layer.
HTMLElement.prototype.showPopover ??= () => undefined;
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

const USED: Used = {
  tokens: { input: 1200, output: 300, thought: 100, cachedRead: 9000 },
  totalTokens: 10_500,
  turns: 1,
  unknownTurns: 0,
  cost: [{ amount: "0.02", currency: "USD" }],
  basis: "computed",
  unpricedTokens: 0,
};

test("a press shows the kinds of tokens and where the cost comes from", () => {
  render(<UsageDetails used={USED} what="turn 7" models={[{ model: "claude-opus-5-5", input: 1200, output: 300 }]} />);
  const button = screen.getByRole("button", { name: "Usage of turn 7: 10.5k tokens · ~$0.02" });
  fireEvent.click(button);
  expect(screen.getByText("Read from cache").nextSibling?.textContent).toBe("9,000");
  expect(screen.getByText("Output, 100 of it thoughts").nextSibling?.textContent).toBe("300");
  expect(screen.queryByText("Written to cache")).toBeNull();
  expect(screen.getByText("Computed from the tokens and the table of prices.")).toBeTruthy();
  expect(screen.getByText("Model: claude-opus-5-5")).toBeTruthy();
  fireEvent.keyDown(button, { key: "Escape" });
  expect(screen.queryByText("Read from cache")).toBeNull();
});

test("what nobody said is unknown", () => {
  render(<UsageDetails used={{ ...USED, tokens: { input: 0, output: 0 }, totalTokens: 0, cost: [], basis: "unknown", unknownTurns: 1 }} what="turn 2" models={[]} />);
  fireEvent.click(screen.getByRole("button", { name: "Usage of turn 2: tokens and cost unknown" }));
  expect(screen.getByText("Input").nextSibling?.textContent).toBe("unknown");
  expect(screen.getByText("Cost").nextSibling?.textContent).toBe("unknown");
  expect(screen.getByText("The agent did not say what it used.")).toBeTruthy();
});
