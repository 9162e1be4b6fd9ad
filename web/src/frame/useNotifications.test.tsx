// Notifications: one for each question and each ended turn that nobody looks at, and only if they are wanted.
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStore } from "zustand/vanilla";

import { inApp } from "../app/inApp";
import type { AppState } from "../state/app";
import { INITIAL_STATE } from "../state/app";
import type { SessionRow } from "../wire/names";
import { useNotifications } from "./useNotifications";

const ROW = { id: "s", agent: "claude", project: "/home/ada/loom", title: "Mend the loom", deletedAt: null, unobserved: false, activeAt: "1" } as unknown as SessionRow;

function stateOf(change: Partial<SessionRow>): AppState {
  return { ...INITIAL_STATE, list: { ...INITIAL_STATE.list, rows: new Map([["s", { ...ROW, ...change }]]), extent: { kind: "whole" }, generation: 1 } };
}

const shown: [string, NotificationOptions][] = [];
const closed: string[] = [];
const messages = new EventTarget();

beforeEach(() => {
  shown.length = 0;
  closed.length = 0;
  const registration = {
    showNotification: (title: string, options: NotificationOptions) => Promise.resolve(void shown.push([title, options])),
    getNotifications: () => Promise.resolve(shown.map(([title, { data }]) => ({ data: data as string, close: () => closed.push(title) }))),
  };
  const worker = Object.assign(messages, { register: vi.fn(() => Promise.resolve(registration)), ready: Promise.resolve(registration) });
  Object.defineProperty(navigator, "serviceWorker", { configurable: true, value: worker });
  vi.stubGlobal("Notification", { permission: "granted" });
});
afterEach(() => {
  cleanup();
  localStorage.clear();
});

/** The list goes through these states while `current` is open. */
async function goThrough(current: string | null, ...changes: Partial<SessionRow>[]) {
  const store = createStore<AppState>()(() => stateOf({ state: "running" }));
  renderHook(() => useNotifications(current), inApp({ store }));
  for (const change of changes) {
    await act(async () => {
      store.setState(stateOf(change));
      await Promise.resolve();
    });
  }
  await act(() => new Promise((soon) => setTimeout(soon)));
}

test("nothing is shown, and no worker asked for, unless the person wants it", async () => {
  await goThrough(null, { state: "needs_you" });
  expect(shown).toEqual([]);
  expect(navigator.serviceWorker.register).not.toHaveBeenCalled();
});

test("a question is shown once, without words of the session, and withdrawn when it is answered", async () => {
  localStorage.setItem("throughline.notifications", "on");
  await goThrough(null, { state: "needs_you" }, { state: "needs_you" }, { state: "running" });
  expect(shown).toMatchObject([["Needs you", { body: "claude in loom", data: "/s/s", tag: "s question 1" }]]);
  expect(closed).toEqual(["Needs you"]);
});

test("a turn that ended unseen is shown, with the title where that is wanted", async () => {
  localStorage.setItem("throughline.notifications", "titles");
  await goThrough(null, { state: "idle", unobserved: true, activeAt: "2" });
  expect(shown).toMatchObject([["Mend the loom", { body: "Done · claude in loom", tag: "s ended 2" }]]);
});

test("that a turn has ended is withdrawn when its session was looked at, here or elsewhere", async () => {
  localStorage.setItem("throughline.notifications", "on");
  await goThrough(null, { state: "idle", unobserved: true, activeAt: "2" }, { state: "idle", unobserved: false, activeAt: "2" });
  expect(shown.map(([title]) => title)).toEqual(["Done"]);
  expect(closed).toEqual(["Done"]);
});

test("what the person looks at is not shown", async () => {
  localStorage.setItem("throughline.notifications", "on");
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  await goThrough("s", { state: "needs_you" });
  expect(shown).toEqual([]);
});

test("a press opens the session, and nothing else", async () => {
  localStorage.setItem("throughline.notifications", "on");
  history.replaceState(null, "", "/");
  await goThrough(null);
  act(() => void messages.dispatchEvent(new MessageEvent("message", { data: { type: "open", path: "https://elsewhere.example" } })));
  expect(location.pathname).toBe("/");
  act(() => void messages.dispatchEvent(new MessageEvent("message", { data: { type: "open", path: "/s/one" } })));
  expect(location.pathname).toBe("/s/one");
  history.replaceState(null, "", "/");
});
