// Which applet is open: by the address, by what the agent shows live, and what is remembered of it.
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { Followed, NewestApplet } from "../../state/followed";
import { NOT_READ } from "../../state/followed";
import type { SessionRow } from "../../wire/names";
import { useApplet } from "./useApplet";

beforeEach(() => {
  wide(true);
  history.replaceState(null, "", "/s/s1");
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  history.replaceState(null, "", "/");
});

function wide(matches: boolean): void {
  vi.stubGlobal("matchMedia", () => ({ matches, addEventListener: () => undefined, removeEventListener: () => undefined }));
}

interface Props {
  followed: Followed;
  running: boolean;
  writable: boolean;
  session: string;
  turns: number;
}

function open(given: Partial<Props> = {}) {
  const captured: [string, string[]][] = [];
  const http = {
    captureApplet: (session: string, items: string[]) => {
      captured.push([session, items]);
      return Promise.resolve({ ok: true, value: {} });
    },
  };
  const first: Props = { followed: NOT_READ, running: false, writable: true, session: "s1", turns: 1, ...given };
  const hook = renderHook(({ followed, running, writable, session, turns }: Props) => useApplet({ id: session, turns } as SessionRow, followed, running, writable), { initialProps: first, ...inApp({ http }) });
  const rerender = (more: Partial<Props>) => hook.rerender({ ...first, ...more });
  return { ...hook, rerender, captured };
}

const shown = (seq: number, more: Partial<NewestApplet> = {}): Followed => ({
  ...NOT_READ,
  newestApplet: { slug: "counter", title: "Counter", params: { a: "1" }, seq, output: `out_${seq}`, live: true, ...more },
});

test("the address says what is open, and is the way back", () => {
  const { result } = open();
  expect(result.current.address).toBeNull();
  const before = history.length;
  act(() => result.current.go({ applet: "counter", params: {}, past: null }, "push"));
  expect([location.search, history.length - before]).toEqual(["?applet=counter", 1]);
  expect(result.current.address).toEqual({ applet: "counter", params: {}, past: null });
  act(() => result.current.go({ applet: "counter", params: { a: "1" }, past: null }, "replace"));
  expect([location.search, history.length - before]).toEqual(["?applet=counter&a=1", 1]);
  act(() => result.current.go(result.current.address, "push"));
  expect(history.length - before).toBe(1);
  act(() => result.current.go(null, "push"));
  expect([location.pathname + location.search, result.current.address]).toEqual(["/s/s1", null]);
  act(() => result.current.browse());
  expect(location.search).toBe("?applet=applet-browser");
});

test("the address of another session opens nothing here", () => {
  history.replaceState(null, "", "/s/s2?applet=counter");
  expect(open().result.current.address).toBeNull();
});

test("what the agent shows while the session is looked at opens by itself", () => {
  const { result, rerender } = open();
  rerender({ followed: shown(4) });
  expect(result.current.address).toEqual({ applet: "counter", params: { a: "1" }, past: null });
  // It was closed since, and nothing new was shown.
  act(() => result.current.go(null, "push"));
  rerender({ followed: { ...shown(4), seq: 10 } });
  expect(result.current.address).toBeNull();
  rerender({ followed: shown(11, { slug: null, params: {} }) });
  expect(location.search).toBe("?applet=_shown");
});

test("what is open stays open when the agent shows another", () => {
  history.replaceState(null, "", "/s/s1?applet=text-editor&path=a");
  const { result, rerender } = open();
  rerender({ followed: shown(4) });
  expect(location.search).toBe("?applet=text-editor&path=a");
  expect(result.current.fresh).toBe("out_4");
  act(() => result.current.go({ applet: "counter", params: {}, past: null }, "push"));
  expect(result.current.fresh).toBeNull();
});

test.each<[string, Followed]>([
  ["what was shown before it was opened", shown(4)],
  ["what was caught up on", shown(4, { live: false })],
])("%s does not", (_, followed) => {
  const { result, rerender } = open(followed.newestApplet?.live === true ? { followed } : {});
  rerender({ followed });
  expect(result.current.address).toBeNull();
  expect(result.current.fresh).toBeNull();
});

test("without room its card says that it is new, until it is opened", () => {
  wide(false);
  const { result, rerender } = open();
  rerender({ followed: shown(4) });
  expect([result.current.address, result.current.fresh]).toEqual([null, "out_4"]);
  act(() => result.current.go({ applet: "counter", params: {}, past: null }, "push"));
  expect(result.current.fresh).toBeNull();
});

test("what is open is remembered when the session comes to rest, once", () => {
  history.replaceState(null, "", "/s/s1?applet=counter&a=1");
  const { rerender, captured } = open({ running: true });
  rerender({ running: false });
  rerender({ running: true });
  rerender({ running: false });
  expect(captured).toEqual([["s1", ["counter", "a=1"]]]);
});

test("a turn that is over before anybody saw it run is one all the same", () => {
  history.replaceState(null, "", "/s/s1?applet=counter&a=1");
  const { rerender, captured } = open();
  rerender({ turns: 1 });
  expect(captured).toEqual([]);
  rerender({ turns: 2 });
  expect(captured).toEqual([["s1", ["counter", "a=1"]]]);
});

test("it is remembered when it is left, with what it was given last, also when the page goes", () => {
  history.replaceState(null, "", "/s/s1?applet=counter");
  const { result, captured } = open();
  act(() => result.current.go({ applet: "counter", params: { a: "2" }, past: null }, "replace"));
  expect(captured).toEqual([]);
  act(() => result.current.go({ applet: "plan", params: {}, past: null }, "push"));
  expect(captured).toEqual([["s1", ["counter", "a=2"]]]);
  act(() => void window.dispatchEvent(new Event("pagehide")));
  expect(captured.at(-1)).toEqual(["s1", ["plan"]]);
  act(() => result.current.go(null, "push"));
  expect(captured).toHaveLength(2);
});

test("what the set holds already, what is not saved, and what nothing can be written to, are not written down", () => {
  history.replaceState(null, "", "/s/s1?applet=counter&a=1");
  const known: Followed = { ...NOT_READ, context: { sets: { applet: ["counter", "a=1"] }, proofs: {} } };
  const first = open({ followed: known });
  first.unmount();
  const second = open({ writable: false });
  second.unmount();
  history.replaceState(null, "", "/s/s1?applet=_shown");
  const third = open();
  third.unmount();
  expect([first.captured, second.captured, third.captured]).toEqual([[], [], []]);
});
