// The menu of a turn gives the focus back to its button.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ForkContext } from "../forking/ForkContext";
import { PromptActions } from "./PromptActions";

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class { observe() { return undefined; } disconnect() { return undefined; } });
  HTMLElement.prototype.showPopover = () => undefined;
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("whoever closes the menu or takes something from it is on its button afterwards", async () => {
  const fork = vi.fn();
  render(
    <ForkContext value={fork}>
      <PromptActions turn={3} past={null} text="say three" images={[]} newest running={false} />
    </ForkContext>,
  );
  const menu = screen.getByRole("button", { name: "More of turn 3" });
  await userEvent.click(menu);
  await userEvent.tab();
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit and send in a fork" }));
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("button", { name: "Fork from here" })).toBeNull();
  expect(document.activeElement).toBe(menu);
  await userEvent.click(menu);
  await userEvent.click(screen.getByRole("button", { name: "Fork from here" }));
  expect(fork).toHaveBeenCalledOnce();
  expect(document.activeElement).toBe(menu);
});
