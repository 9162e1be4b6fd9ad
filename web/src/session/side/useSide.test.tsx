// The side panel's setting, and where its tabs are shown.
import { act, cleanup, fireEvent, render, renderHook, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { SideBeside } from "./SidePanel";
import { parse, useSide, WIDTH } from "./useSide";

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

/** A window that is so wide. */
function wide(rem: number): void {
  vi.stubGlobal("matchMedia", (query: string) => ({
    matches: rem >= Number(/width >= ([\d.]+)rem/.exec(query)?.[1] ?? Infinity),
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
}

test("what this page did not write is as good as nothing, and no width is too wide", () => {
  const usual = { open: null, tab: "contents", width: WIDTH.usual };
  expect(parse(null)).toEqual(usual);
  expect(parse("{")).toEqual(usual);
  expect(parse('{"open":"yes","tab":"applets","width":"9"}')).toEqual(usual);
  expect(parse('{"open":false,"tab":"plan","width":99999}')).toEqual({ open: false, tab: "plan", width: WIDTH.most });
});

test("where there is plenty of room the contents stand open; a tab is shown, shown again to hide, and remembered", () => {
  wide(90);
  const column = { current: null };
  const { result, unmount } = renderHook(() => useSide(column));
  expect(result.current.beside).toBe("contents");
  act(() => result.current.toggle("changes"));
  expect([result.current.beside, result.current.sheet]).toEqual(["changes", null]);
  act(() => result.current.toggle("changes"));
  expect(result.current.beside).toBeNull();
  unmount();
  const again = renderHook(() => useSide(column));
  expect(again.result.current.beside).toBeNull();
  act(() => again.result.current.show("plan"));
  expect(again.result.current.beside).toBe("plan");
});

test("where there is room, but not plenty, it is closed until it is asked for; else it is a sheet", () => {
  wide(70);
  const column = { current: null };
  const { result } = renderHook(() => useSide(column));
  expect(result.current.beside).toBeNull();
  act(() => result.current.toggle("contents"));
  expect(result.current.beside).toBe("contents");
  cleanup();
  wide(40);
  const narrow = renderHook(() => useSide(column));
  expect([narrow.result.current.beside, narrow.result.current.sheet]).toEqual([null, null]);
  act(() => narrow.result.current.show("context"));
  expect([narrow.result.current.beside, narrow.result.current.sheet]).toEqual([null, "context"]);
  act(() => narrow.result.current.close());
  expect(narrow.result.current.sheet).toBeNull();
});

test("a drag stores the width once, and keeps the place once, when the edge is left", () => {
  wide(90);
  const frames: FrameRequestCallback[] = [];
  vi.stubGlobal("requestAnimationFrame", (frame: FrameRequestCallback) => frames.push(frame));
  HTMLElement.prototype.setPointerCapture = () => undefined;
  HTMLElement.prototype.hasPointerCapture = () => true;
  const column = document.createElement("div");
  const log = column.appendChild(document.createElement("div"));
  log.setAttribute("role", "log");
  Object.defineProperty(log, "scrollHeight", { value: 5_000 });
  log.appendChild(document.createElement("article")).getBoundingClientRect = () => new DOMRect(0, 10, 100, 100);
  document.body.appendChild(column);
  let drawn = 0;
  function Panel() {
    drawn += 1;
    return <SideBeside side={useSide({ current: column })}>{() => null}</SideBeside>;
  }
  render(<Panel />);
  const edge = screen.getByRole("separator");
  const panel = screen.getByRole("complementary");
  panel.getBoundingClientRect = () => new DOMRect(0, 0, 1_000, 500);
  const before = drawn;
  fireEvent.pointerDown(edge, { pointerId: 1 });
  for (const clientX of [600, 590, 580]) {
    fireEvent.pointerMove(edge, { pointerId: 1, clientX });
  }
  expect(panel.style.width).toBe("420px");
  expect([localStorage.length, drawn - before, frames.length]).toEqual([0, 0, 1]);
  fireEvent.lostPointerCapture(edge, { pointerId: 1 });
  expect([localStorage.length, drawn - before, frames.length]).toEqual([1, 1, 1]);
  expect(edge.getAttribute("aria-valuenow")).toBe("420");
  column.remove();
});
