// What is read near the turns in view: nothing for a reader who passes by.
import { cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { AppContext } from "../../app/AppContext";
import type { App } from "../../state/app";
import type { Followed } from "../../state/followed";
import { NOT_READ } from "../../state/followed";
import type { TranscriptTurn } from "../../state/transcript";
import { useTurnsInReach } from "./useTurnsInReach";

/** A session of which turn 2,001 is the first that is followed. */
const followed: Followed = { ...NOT_READ, transcript: { ...NOT_READ.transcript, turns: [{ turn: 2_001 } as TranscriptTurn] } };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

test("turns and lines that are passed by are not asked for; those where the reader rests are", () => {
  const readToc = vi.fn(() => Promise.resolve(null));
  const readTurns = vi.fn();
  const app = { readToc, readTurns } as unknown as App;
  const wrapper = ({ children }: { children: ReactNode }) => <AppContext value={app}>{children}</AppContext>;
  const { rerender } = renderHook(({ at }) => useTurnsInReach("s", followed, { startIndex: at, endIndex: at + 3 }), { wrapper, initialProps: { at: 1_900 } });
  for (const at of [1_400, 900, 450]) {
    vi.advanceTimersByTime(20);
    rerender({ at });
  }
  expect([readToc.mock.calls, readTurns.mock.calls]).toEqual([[], []]);
  vi.runAllTimers();
  expect(readToc.mock.calls).toEqual([["s", 0]]);
  expect(readTurns.mock.calls).toEqual([["s", 439, 466]]);
});
