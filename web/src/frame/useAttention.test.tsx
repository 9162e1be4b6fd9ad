// The window's title and the app's badge follow what waits for the person.
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { createStore } from "zustand/vanilla";

import { inApp } from "../app/inApp";
import type { AppState } from "../state/app";
import { INITIAL_STATE } from "../state/app";
import type { SessionRow, SessionState } from "../wire/names";
import { useAttention } from "./useAttention";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function stateOf(state: SessionState, unobservedCount: number): AppState {
  const row = { id: "s", state, title: "Mend the loom", deletedAt: null } as SessionRow;
  return { ...INITIAL_STATE, list: { ...INITIAL_STATE.list, rows: new Map([["s", row]]), unobservedCount, needsYouCount: state === "needs_you" ? 1 : 0 } };
}

test("a number while sessions need the person, a dot while answers are unseen, nothing else", () => {
  const set: unknown[][] = [];
  const badge = { setAppBadge: (...count: unknown[]) => Promise.resolve(void set.push(count)), clearAppBadge: () => Promise.resolve(void set.push(["none"])) };
  vi.stubGlobal("navigator", Object.assign(Object.create(navigator), badge));
  const store = createStore<AppState>()(() => stateOf("needs_you", 1));
  renderHook(() => useAttention("s"), inApp({ store }));
  expect(document.title).toBe("(1) Mend the loom · Throughline");
  act(() => store.setState(stateOf("idle", 1)));
  expect(document.title).toBe("• Mend the loom · Throughline");
  act(() => store.setState(stateOf("idle", 0)));
  expect(document.title).toBe("Mend the loom · Throughline");
  expect(set).toEqual([[1], [], ["none"]]);
});

test("a browser without badges has the title", () => {
  const store = createStore<AppState>()(() => stateOf("needs_you", 0));
  renderHook(() => useAttention(null), inApp({ store }));
  expect(document.title).toBe("(1) Throughline");
});
