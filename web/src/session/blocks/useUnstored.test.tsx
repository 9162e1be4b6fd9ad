// Words that are not stored yet: which characters are pale.
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { lastCharacters, useUnstored } from "./useUnstored";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test.each([
  [3, "two"],
  [4, " two"],
  [8, "one two"],
  [9, "one two"],
])("the last %i characters are “%s”", (count, words) => {
  const { container } = render(
    <div>
      <p>
        <em>one</em> two
      </p>
      <hr />
    </div>,
  );
  const range = lastCharacters(container, count);
  expect(range?.toString()).toBe(words);
});

test("where nothing is drawn there is nothing to be pale", () => {
  expect(lastCharacters(render(<div />).container, 3)).toBeNull();
});

test("they are pale until they are stored", () => {
  const highlights = new Map<string, Set<Range>>();
  vi.stubGlobal("Highlight", Set);
  vi.stubGlobal("CSS", { highlights });
  const pale = () => [...(highlights.get("unstored") ?? [])].map(String);
  const { rerender, unmount } = render(<Told text="one two" count={3} />);
  expect(pale()).toEqual(["two"]);
  rerender(<Told text="one two three" count={9} />);
  expect(pale()).toEqual(["two three"]);
  rerender(<Told text="one two three" count={0} />);
  expect(pale()).toEqual([]);
  rerender(<Told text="one two three four" count={4} />);
  expect(pale()).toEqual(["four"]);
  unmount();
  expect(pale()).toEqual([]);
});

function Told({ text, count }: { text: string; count: number }) {
  return <div ref={useUnstored(count, text)}>{text}</div>;
}
