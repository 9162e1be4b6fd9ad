// Tests that what cannot be drawn says so in its own place and harms nothing around it.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { DialogBoundary, logOnce, PanelBoundary, RouteBoundary } from "./Boundary";

afterEach(cleanup);
beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

let failing = true;

function Fragile() {
  if (failing) {
    throw new RangeError("too deep");
  }
  return <p>drawn</p>;
}

beforeEach(() => {
  failing = true;
});

test("a panel says so, is tried again, and its neighbours stand", async () => {
  render(
    <>
      <PanelBoundary name="The contents">
        <Fragile />
      </PanelBoundary>
      <p>neighbour</p>
    </>,
  );
  expect(screen.getByRole("alert").textContent).toContain("The contents cannot be shown");
  expect(screen.getByText("neighbour")).toBeTruthy();
  failing = false;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(screen.getByText("drawn")).toBeTruthy();
});

test("a dialog stays one that can be closed", async () => {
  const onClose = vi.fn();
  render(
    <DialogBoundary name="Context" onClose={onClose}>
      <Fragile />
    </DialogBoundary>,
  );
  expect(screen.getByText("Context")).toBeTruthy();
  await userEvent.click(screen.getByText("Try again"));
  screen.getByLabelText("Close").click();
  expect(onClose).toHaveBeenCalledOnce();
});

test("another page is drawn where one could not be", () => {
  const { rerender } = render(
    <RouteBoundary of="one">
      <Fragile />
    </RouteBoundary>,
  );
  expect(screen.getByText("This page cannot be shown")).toBeTruthy();
  rerender(
    <RouteBoundary of="other">
      <p>another</p>
    </RouteBoundary>,
  );
  expect(screen.getByText("another")).toBeTruthy();
});

test("an error is logged once, however often it comes", () => {
  logOnce(new RangeError("again and again"));
  logOnce(new RangeError("again and again"));
  logOnce("something else");
  expect(vi.mocked(console.error).mock.calls).toHaveLength(2); // eslint-disable-line no-console
});
