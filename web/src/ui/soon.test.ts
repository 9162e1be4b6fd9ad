// With the next frame, or without one; never twice.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createSoon } from "./soon";

let frames: Map<number, () => void>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  frames = new Map();
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.set(frames.size + 1, run).size);
  vi.stubGlobal("cancelAnimationFrame", (frame: number) => frames.delete(frame));
});
afterEach(() => {
  vi.useRealTimers();
});

function drawFrame(): void {
  const drawn = [...frames.values()];
  frames.clear();
  drawn.forEach((run) => run());
}

test("it runs with the frame, once", () => {
  const run = vi.fn();
  createSoon()(run);
  expect(run).not.toHaveBeenCalled();
  drawFrame();
  vi.runAllTimers();
  expect(run).toHaveBeenCalledOnce();
});

test("a page that is hidden after it was asked gets no frame, and runs it all the same, once", () => {
  const run = vi.fn();
  createSoon()(run);
  vi.runAllTimers();
  expect(run).toHaveBeenCalledOnce();
  drawFrame();
  expect(run).toHaveBeenCalledOnce();
});

test("what is asked right after it ran waits a moment, so that words that stream in are drawn together", () => {
  const soon = createSoon();
  const run = vi.fn();
  soon(run);
  drawFrame();
  soon(run);
  drawFrame();
  expect(run).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(50);
  drawFrame();
  expect(run).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(60);
  soon(run);
  drawFrame();
  expect(run).toHaveBeenCalledTimes(3);
});

/** How often something was drawn within ten seconds, in which there was always something to draw that took so long. */
function drawnInTenSeconds(soon: (run: () => void) => void, tookMs: number): number {
  let times = 0;
  const draw = () => {
    times += 1;
    vi.advanceTimersByTime(tookMs);
    soon(draw);
  };
  soon(draw);
  for (let passedMs = 0; passedMs < 10_000; passedMs += 10) {
    drawFrame();
    vi.advanceTimersByTime(10);
  }
  return times;
}

test("drawings that cost much are fewer, so that all of them take a small part of the time", () => {
  const soon = createSoon();
  expect(drawnInTenSeconds(soon, 1)).toBeGreaterThan(130);
  const costly = createSoon();
  drawnInTenSeconds(costly, 20);
  expect(drawnInTenSeconds(costly, 20) * 20).toBeLessThan(10_000 / 10);
  // But never less often than this.
  expect(drawnInTenSeconds(createSoon(), 200)).toBeGreaterThan(12);
});

test("a page that has rested draws what is costly at once, several times", () => {
  const soon = createSoon();
  const run = vi.fn(() => vi.advanceTimersByTime(100));
  soon(run);
  drawFrame();
  vi.advanceTimersByTime(0);
  soon(run);
  vi.advanceTimersByTime(0);
  drawFrame();
  expect(run).toHaveBeenCalledTimes(2);
});
