// Lines of a diff, below one another and side by side.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { DiffLines } from "./DiffLines";
import { numbered } from "./diffRows";

afterEach(cleanup);

test("a line has two numbers below one another and one side by side, whichever came first", () => {
  const lines = numbered([{ oldStart: 1, newStart: 1, lines: [{ kind: "removed", text: "old" }, { kind: "added", text: "new" }] }]);
  const numbers = () => screen.getAllByRole("option").map((option) => option.querySelectorAll(".change-number").length);
  const drawn = (split: boolean) => <DiffLines name="a.rs" lines={lines} split={split} onComment={null} />;
  const { rerender } = render(drawn(false));
  expect(numbers()).toEqual([2, 2]);
  rerender(drawn(true));
  expect(numbers()).toEqual([1, 1]);
  rerender(drawn(false));
  expect(numbers()).toEqual([2, 2]);
});
