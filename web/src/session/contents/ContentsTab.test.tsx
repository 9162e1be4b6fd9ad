// The contents: without an answer a page is asked for again, and never after they were left.
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { AppContext } from "../../app/AppContext";
import type { App } from "../../state/app";
import { NOT_READ } from "../../state/followed";
import type { SessionRow } from "../../wire/names";
import { ContentsTab } from "./ContentsTab";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("ResizeObserver", class { observe() { return undefined; } unobserve() { return undefined; } disconnect() { return undefined; } });
  // The list draws the lines that fit into it.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(300);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  cleanup();
});

test("a page that did not come is asked for again while the contents are open, and not afterwards", async () => {
  const readToc = vi.fn(() => Promise.resolve({ kind: "unreachable" }));
  const app = { readToc } as unknown as App;
  const row = { id: "s", turns: 3, state: "idle" } as SessionRow;
  const { unmount } = render(
    <AppContext value={app}>
      <ContentsTab row={row} followed={NOT_READ} read={null} fenced={false} place="beside" onJump={vi.fn()} />
    </AppContext>,
  );
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(readToc.mock.calls).toEqual([["s", 0]]);
  await act(() => vi.advanceTimersByTimeAsync(4_000));
  expect(readToc).toHaveBeenCalledTimes(2);
  unmount();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(readToc).toHaveBeenCalledTimes(2);
});
