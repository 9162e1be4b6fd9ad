// With the next frame, or without one; never twice.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { soon } from "./soon";

let frames: Map<number, () => void>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
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
  soon(run);
  expect(run).not.toHaveBeenCalled();
  drawFrame();
  vi.runAllTimers();
  expect(run).toHaveBeenCalledOnce();
});

test("a page that is hidden after it was asked gets no frame, and runs it all the same, once", () => {
  const run = vi.fn();
  soon(run);
  vi.runAllTimers();
  expect(run).toHaveBeenCalledOnce();
  drawFrame();
  expect(run).toHaveBeenCalledOnce();
});
