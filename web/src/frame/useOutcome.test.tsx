// A session that is deleted is left by whoever is still on its page, and brought back the same way.
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { inApp } from "../app/inApp";
import { navigate } from "../ui/navigation";
import type { SessionRow } from "../wire/names";
import { useOutcome } from "./useOutcome";

const row = { id: "gone", title: "Mend the loom", meta: { name: "" } } as SessionRow;

afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/");
});

/** A server that answers when it is told to. */
function slow() {
  let answer: (() => void) | undefined;
  const ask = () => new Promise((resolve) => (answer = () => resolve({ ok: true, value: {} })));
  return { http: { deleteSession: ask, restoreSession: ask }, answer: () => act(async () => answer?.()) };
}

test.each([
  ["/s/gone", "/"],
  ["/s/other", "/s/other"],
])("whoever is at %s when it is deleted is at %s afterwards", async (path, after) => {
  const { http, answer } = slow();
  history.replaceState(null, "", "/s/gone");
  const { result } = renderHook(() => useOutcome(), inApp({ http }));
  const removed = result.current.remove(row);
  act(() => navigate(path));
  await answer();
  expect(await removed).toBeNull();
  expect(location.pathname).toBe(after);
  expect(result.current.outcome?.words).toBe("Deleted “Mend the loom”");
});

test("whoever went elsewhere before it was restored is not led back", async () => {
  const { http, answer } = slow();
  const { result } = renderHook(() => useOutcome(), inApp({ http }));
  const removed = result.current.remove(row);
  await answer();
  await removed;
  const undo = result.current.outcome?.undo;
  for (const [elsewhere, after] of [["/settings", "/settings"], [null, "/s/gone"]] as const) {
    const restored = undo?.();
    if (elsewhere !== null) {
      act(() => navigate(elsewhere));
    }
    await answer();
    expect(await restored).toBeNull();
    expect(location.pathname).toBe(after);
  }
});

test("what was said of it is gone once another page is opened", async () => {
  const { http, answer } = slow();
  const { result } = renderHook(() => useOutcome(), inApp({ http }));
  const removed = result.current.remove(row);
  await answer();
  await removed;
  expect(result.current.outcome).not.toBeNull();
  act(() => navigate("/usage"));
  expect(result.current.outcome).toBeNull();
});
