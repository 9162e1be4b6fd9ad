// Words that are added to a text: how much of it is parsed again.
import { cleanup, render } from "@testing-library/react";
import type * as Library from "streamdown";
import { afterEach, expect, test, vi } from "vitest";

import { Markdown } from "./Markdown";

/** What the parser was given, in order. */
const parsed = vi.hoisted((): string[] => []);
vi.mock("streamdown", async (original) => {
  const library = await original<typeof Library>();
  const { Streamdown } = library;
  return {
    ...library,
    Streamdown(props: Parameters<typeof Streamdown>[0]) {
      parsed.push(String(props.children));
      return <Streamdown {...props} />;
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
