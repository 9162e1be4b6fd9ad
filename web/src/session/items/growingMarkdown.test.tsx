// Words that are added to a text: how much of it is parsed again.
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { Markdown } from "./Markdown";
import type * as Parser from "./parseMarkdown";

/** What the parser was given, in order. */
const parsed = vi.hoisted((): string[] => []);
vi.mock("./parseMarkdown", async (original) => {
  const { parseMarkdown } = await original<typeof Parser>();
  return {
    parseMarkdown(...given: Parameters<typeof parseMarkdown>) {
      parsed.push(given[0]);
      return parseMarkdown(...given);
    },
  };
});

afterEach(cleanup);

test("only the last part is parsed again for each piece that arrives", () => {
  let text = `${"## A part\n\nWords, **more** words and `code`.\n\n".repeat(100)}The last of it: `;
  const { rerender } = render(<Markdown text={text} growing />);
  expect(parsed.length).toBeGreaterThan(2);
  for (const piece of ["It ", "**grows", "** on ", "and on."]) {
    text += piece;
    parsed.length = 0;
    rerender(<Markdown text={text} growing />);
    expect(parsed).toHaveLength(1);
    expect(text.endsWith(parsed[0] ?? "nothing")).toBe(true);
    expect(parsed[0]?.length).toBeLessThan(text.length / 2);
  }
});
