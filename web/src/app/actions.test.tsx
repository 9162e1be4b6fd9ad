// The table of actions: no key means two things in one place, keys do what the table says, and the palette lists what can be done.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { Action, ActionName, ActionHandlers } from "./actions";
import { ACTIONS, keysOf, useActions, useAvailable } from "./actions";

const all = Object.entries(ACTIONS) as [ActionName, Action][];

function Part({ handlers }: { handlers: ActionHandlers }) {
  useActions(handlers);
  return null;
}

function Palette() {
  return (
    <ul>
      {useAvailable().map(({ name, keys, run }) => (
        <li key={name}>
          <button type="button" onClick={run}>
            {name} {keys}
          </button>
        </li>
      ))}
    </ul>
  );
}

const listed = () => screen.queryAllByRole("button").map(({ textContent }) => textContent);

afterEach(cleanup);

test("a key means one thing in a place, and what holds everywhere means nothing else in the list or in a session", () => {
  const keysIn = (...places: string[]) => all.filter(([, { where }]) => places.includes(where)).flatMap(([, { key, chord }]) => (key === undefined ? (chord === undefined ? [] : [`chord ${chord}`]) : [key]));
  for (const places of [["Everywhere", "In the list", "In a session"], ["Where the agent asks"]]) {
    const keys = keysIn(...places);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

test("each has a name of its own", () => {
  expect(new Set(all.map(([, { name }]) => name)).size).toBe(all.length);
});

test("each key that is pressed is shown as one, a capital with the key that makes it one", () => {
  expect(keysOf("search")).toEqual(["Ctrl", "K"]);
  expect(keysOf("next-turn")).toEqual(["Shift", "J"]);
  expect(keysOf("contents")).toEqual(["t"]);
  expect(keysOf("stop")).toEqual(["Esc", "Esc"]);
  expect(keysOf("all-sessions")).toEqual([]);
});

test("keys do what the table says, and nothing for what can not be done now", async () => {
  const [contents, fork] = [vi.fn(), vi.fn()];
  const { rerender } = render(<Part handlers={{ contents, fork }} />);
  await userEvent.keyboard("tf");
  expect([contents.mock.calls.length, fork.mock.calls.length]).toEqual([1, 1]);
  rerender(<Part handlers={{ contents, fork: undefined }} />);
  await userEvent.keyboard("tf");
  expect([contents.mock.calls.length, fork.mock.calls.length]).toEqual([2, 1]);
});

test("the palette lists what can be done now, in the table's order, and does it", async () => {
  const run = vi.fn();
  const view = (handlers: ActionHandlers) => (
    <>
      <Palette />
      <Part handlers={handlers} />
      <Part handlers={{ keys: run }} />
    </>
  );
  const { rerender, unmount } = render(view({ stop: run, contents: run }));
  expect(listed()).toEqual(["Keyboard shortcuts ?", "The session’s contents t", "Stop the running turn Esc Esc"]);
  rerender(view({ contents: run }));
  expect(listed()).toEqual(["Keyboard shortcuts ?", "The session’s contents t"]);
  await userEvent.click(screen.getByText("The session’s contents t"));
  expect(run).toHaveBeenCalledOnce();
  unmount();
  render(<Palette />);
  expect(listed()).toEqual([]);
});
