// The warning of a dear day: said in a region that was there before, asked for by the browser's own day.
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { inApp } from "../app/inApp";
import { dayOf } from "../usage/days";
import { DayWarning } from "./DayWarning";

afterEach(cleanup);

test("it is said in a region that was there before, and goes when it is dismissed", async () => {
  let tell = (): void => undefined;
  const day = dayOf(new Date());
  const today = { day, limit: { amount: 5, currency: "USD" }, warning: { spent: { amount: 6, currency: "USD" }, limit: { amount: 5, currency: "USD" } } };
  const usage = vi.fn((_query: object) => new Promise((resolve) => (tell = () => resolve({ ok: true, value: { today } }))));
  render(<DayWarning />, inApp({ http: { usage } }));
  const region = screen.getByRole("status");
  expect(region.textContent).toBe("");
  expect(usage).toHaveBeenCalledWith({ by: "agent", from: day, to: day, limit: "1" });
  tell();
  await waitFor(() => expect(region.textContent).toMatch(/^Today/));
  await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
  expect(region.textContent).toBe("");
  expect(screen.queryByRole("link")).toBeNull();
});
