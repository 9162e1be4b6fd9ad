// The sheet of keys has every key of the table, under the place where it works.
import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import type { ActionName } from "../app/actions";
import { ACTIONS, keysOf, PLACES } from "../app/actions";
import { KeysDialog } from "./KeysDialog";

// The test's browser knows no modal dialogs.
beforeAll(() => {
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
});
afterEach(cleanup);

test("every action that has a key is there with it", () => {
  render(<KeysDialog onClose={vi.fn()} />);
  const keyed = (Object.keys(ACTIONS) as ActionName[]).filter((name) => keysOf(name).length > 0);
  expect(keyed.length).toBeGreaterThan(20);
  for (const name of keyed) {
    const row = screen.getByText(ACTIONS[name].name, { selector: "dd" }).parentElement;
    expect([...(row?.querySelectorAll("kbd") ?? [])].map(({ textContent }) => textContent)).toEqual(keysOf(name));
  }
  expect(screen.getAllByRole("heading", { level: 3 }).map(({ textContent }) => textContent)).toEqual([...PLACES]);
  expect(within(screen.getByRole("dialog", { name: ACTIONS.keys.name })).getByRole("checkbox", { name: "Single-letter keys" })).toBeTruthy();
});
