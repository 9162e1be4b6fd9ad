// A part of the page whose code does not come: it is said, asked for again, and drawn when it comes after all.
import { act, cleanup, fireEvent, render, renderHook, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { inApp } from "../app/inApp";
import { Dialogs } from "./Dialogs";
import { useDialogs } from "./useDialogs";
import { RETRY_MS, TOO_LONG_MS, usePart } from "./usePart";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

/** Code that does not come for as long as the server is `down`, or never where it `hangs`. */
function codeOf() {
  const server = { down: true, asked: 0, hangs: false };
  const load = (): Promise<string> => {
    server.asked += 1;
    return server.hangs ? new Promise(() => undefined) : server.down ? Promise.reject(new TypeError("Failed to fetch")) : Promise.resolve("the part");
  };
  return { server, load };
}

test("what failed is asked for again, ever more seldom, until it comes", async () => {
  const { server, load } = codeOf();
  const { result } = renderHook(() => usePart(load, true));
  expect(result.current.kind).toBe("loading");
  await pass(0);
  expect(result.current.kind).toBe("failed");
  for (const [index, wait] of RETRY_MS.entries()) {
    await pass(wait - 1);
    expect(server.asked).toBe(index + 1);
    await pass(1);
    expect(server.asked).toBe(index + 2);
  }
  server.down = false;
  await pass(RETRY_MS[3]);
  expect(result.current).toEqual({ kind: "ready", part: "the part" });
});

test("it is asked for at once when the person asks and when the browser is online again", async () => {
  const { server, load } = codeOf();
  const { result } = renderHook(() => usePart(load, true));
  await pass(0);
  const { current } = result;
  act(() => (current.kind === "failed" ? current.retry() : undefined));
  await pass(0);
  expect(server.asked).toBe(2);
  server.down = false;
  act(() => void dispatchEvent(new Event("online")));
  await pass(0);
  expect(result.current.kind).toBe("ready");
});

test("a load that nobody wanted fails without a word, and is asked for again when it is wanted", async () => {
  const { server, load } = codeOf();
  const { result, rerender } = renderHook(({ wanted }) => usePart(load, wanted), { initialProps: { wanted: false } });
  await pass(60_000);
  expect([result.current.kind, server.asked]).toEqual(["loading", 1]);
  server.down = false;
  rerender({ wanted: true });
  await pass(0);
  expect(result.current.kind).toBe("ready");
});

test("what takes too long is said to have failed", async () => {
  const { server, load } = codeOf();
  server.hangs = true;
  const { result } = renderHook(() => usePart(load, true));
  await pass(TOO_LONG_MS);
  expect(result.current.kind).toBe("failed");
});

test("a palette whose code does not come is a dialog that says so, and gives the keys back when it is closed", async () => {
  const { server, load } = codeOf();
  const loads = { palette: load, picker: load } as unknown as NonNullable<Parameters<typeof Dialogs>[0]["loads"]>;
  function Frame() {
    return <Dialogs dialogs={useDialogs(false)} current={null} onBegun={() => undefined} loads={loads} />;
  }
  render(<Frame />, inApp({}));
  fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
  await pass(0);
  expect(screen.getByRole("dialog", { name: "Search" }).textContent).toContain("Could not be loaded.");
  const { asked } = server;
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await pass(0);
  expect(server.asked).toBe(asked + 1);
  fireEvent.click(screen.getByRole("button", { name: "Close" }));
  fireEvent.keyDown(document.body, { key: "?" });
  expect(screen.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeTruthy();
});
