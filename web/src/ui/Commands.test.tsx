// Commands in a sentence: a line of several words stands by itself and can be copied, a single word does not break the sentence.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { Commands } from "./Commands";

afterEach(cleanup);

test("a command of several words can be copied, and the stop after it goes with the end of its line", () => {
  const { container } = render(<Commands sentence="Run `npm install -g loom`: it is used also where `loom` itself is there." />);
  expect(screen.getAllByRole("button").map((button) => button.getAttribute("aria-label"))).toEqual(["Copy npm install -g loom"]);
  expect(container.textContent).toBe("Run npm install -g loom it is used also where loom itself is there.");
});

test("a single word keeps the stop after it", () => {
  const { container } = render(<Commands sentence="Run `loom`, then sign in." />);
  expect(screen.queryByRole("button")).toBeNull();
  expect(container.textContent).toBe("Run loom, then sign in.");
});
