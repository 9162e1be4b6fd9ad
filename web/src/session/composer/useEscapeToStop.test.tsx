// Escape stops a running turn when it is pressed twice, and only then.
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { AGAIN_MS, useEscapeToStop } from "./useEscapeToStop";

const onStop = vi.fn();

function Page({ running = true }: { running?: boolean }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const next = useEscapeToStop({ running, field, onStop });
  return (
    <>
      <textarea ref={field} aria-label="Prompt" />
      <input aria-label="Name" />
      <button type="button" onKeyDown={(event) => event.preventDefault()}>
        Menu
      </button>
      <p>{next ? "next stops" : "quiet"}</p>
    </>
  );
}

const press = (on: Element | Window = window, more = {}) => fireEvent.keyDown(on, { key: "Escape", ...more });
const says = (words: string) => expect(screen.getByText(words)).toBeTruthy();

beforeEach(() => {
  onStop.mockClear();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

test("the first press says what the second does, and the second does it", () => {
  render(<Page />);
  press();
  says("next stops");
  expect(onStop).not.toHaveBeenCalled();
  press(screen.getByLabelText("Prompt"));
  expect(onStop).toHaveBeenCalledOnce();
  says("quiet");
});

test("a press that comes later is a first one again", () => {
  render(<Page />);
  press();
  act(() => {
    vi.advanceTimersByTime(AGAIN_MS);
  });
  says("quiet");
  press();
  says("next stops");
  expect(onStop).not.toHaveBeenCalled();
});

test("what was meant for something else does not count", () => {
  render(<Page />);
  press(screen.getByLabelText("Name"));
  press(screen.getByText("Menu"));
  press(window, { repeat: true });
  press(window, { isComposing: true });
  says("quiet");
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.setAttribute("open", "");
  press();
  says("quiet");
  dialog.remove();
});

test("without a running turn there is nothing to stop", () => {
  render(<Page running={false} />);
  press();
  press();
  says("quiet");
  expect(onStop).not.toHaveBeenCalled();
});
