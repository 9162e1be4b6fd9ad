// A hint is there until it is dismissed, and then never again.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { Hint } from "./Hint";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

test("each is dismissed by itself, wherever it is shown, for ever", async () => {
  const all = (
    <>
      <Hint id="one">First.</Hint>
      <Hint id="one">First.</Hint>
      <Hint id="two">Second.</Hint>
    </>
  );
  render(all);
  expect(screen.getAllByText("First.")).toHaveLength(2);
  await userEvent.click(screen.getAllByRole("button", { name: "Dismiss this hint" })[0] as HTMLElement);
  expect(screen.queryByText("First.")).toBeNull();
  screen.getByText("Second.");
  cleanup();
  render(all);
  expect(screen.queryByText("First.")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Dismiss this hint" }));
  cleanup();
  render(all);
  expect(screen.queryByText("Second.")).toBeNull();
});
