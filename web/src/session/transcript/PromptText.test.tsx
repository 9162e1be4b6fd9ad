// The person's words: short ones as they were written, long ones as Markdown that is folded and can be read to its end.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { FoundContext } from "../find/found";
import { PromptText } from "./PromptText";

afterEach(cleanup);

const LONG = `## Mend the loom\n\nThe **shuttle** sticks.\nIt did not before.\n\n${Array.from({ length: 40 }, (_, index) => `- step ${index}`).join("\n")}\n\nThe end of it.`;

test("a short prompt is a heading, as it was written", () => {
  render(<PromptText text={"fix **this**\nand that"} turn={3} />);
  expect(screen.getByRole("heading", { level: 2 }).textContent).toBe("fix **this**\nand that");
});

test("a long prompt is Markdown, of which the beginning is shown until all of it is asked for", async () => {
  const { container } = render(<PromptText text={LONG} turn={3} />);
  expect(screen.getByRole("heading", { level: 2, name: "Prompt of turn 3" })).toBeTruthy();
  expect(container.querySelector("strong")?.textContent).toBe("shuttle");
  expect(container.textContent).not.toContain("##");
  expect(container.textContent).toContain("sticks.\nIt did");
  expect(container.textContent).not.toContain("The end of it.");
  await userEvent.click(screen.getByRole("button", { name: "Show all 47 lines", expanded: false }));
  expect(container.textContent).toContain("The end of it.");
  await userEvent.click(screen.getByRole("button", { name: "Show less", expanded: true }));
  expect(container.textContent).not.toContain("The end of it.");
});

test("markup in a long prompt is text", () => {
  const { container } = render(<PromptText text={`<img src=x onerror=alert(1)>\n\n${LONG}`} turn={3} />);
  expect(container.querySelector("img")).toBeNull();
  expect(container.textContent).toContain("<img src=x onerror=alert(1)>");
});

test("what is looked for is drawn, though it stands in the folded part", () => {
  const { container } = render(
    <FoundContext value={{ turn: 3, query: "The end", exact: true }}>
      <PromptText text={LONG} turn={3} />
    </FoundContext>,
  );
  expect(container.textContent).toContain("The end of it.");
});

test("a waiting prompt has no heading", () => {
  render(<PromptText text="say hello" turn={null} />);
  expect(screen.queryByRole("heading")).toBeNull();
});
