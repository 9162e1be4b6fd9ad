// Single keys act on the page, and are never taken from where somebody types or has just typed.
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";

import { useKeyPresses } from "./keyPresses";

afterEach(cleanup);

function Page({ taken, children }: { taken: () => void; children: ReactNode }) {
  useKeyPresses({ y: taken });
  return children;
}

test.each<[string, number, ReactNode]>([
  ["a text", 1, <p data-testid="here">x</p>],
  ["a field", 0, <input data-testid="here" />],
  ["what keeps its keys", 0, <aside data-testid="here" data-own-keys tabIndex={-1} />],
  [
    "a button within it",
    0,
    <aside data-own-keys>
      <button type="button" data-testid="here" />
    </aside>,
  ],
])("on %s a key is taken %d times", (_, times, children) => {
  const taken = vi.fn();
  render(<Page taken={taken}>{children}</Page>);
  fireEvent.keyDown(screen.getByTestId("here"), { key: "y" });
  expect(taken).toHaveBeenCalledTimes(times);
});
