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
