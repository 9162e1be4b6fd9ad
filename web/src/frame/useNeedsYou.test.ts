// The next session in need: one that asks before one that is only unseen, in the order of the list, around its end.
import { expect, test } from "vitest";

import type { SessionRow, SessionState } from "../wire/names";
import { nextInNeed } from "./useNeedsYou";

const row = (id: string, state: SessionState = "idle", unobserved = false) => ({ id, state, unobserved }) as SessionRow;
const next = (rows: readonly SessionRow[], current: string | null) => nextInNeed(rows, current)?.id ?? null;

test("who asks comes first, after the current one and then around", () => {
  const rows = [row("a", "needs_you"), row("b"), row("c", "needs_you"), row("d", "idle", true)];
  expect(next(rows, null)).toBe("a");
  expect(next(rows, "a")).toBe("c");
  expect(next(rows, "b")).toBe("c");
  expect(next(rows, "c")).toBe("a");
});

test("the current one is gone to itself if no other asks, and unseen answers come after that", () => {
  expect(next([row("a", "needs_you"), row("b", "idle", true)], "a")).toBe("a");
  expect(next([row("a"), row("b", "idle", true)], "a")).toBe("b");
  expect(next([row("a", "idle", true)], "a")).toBeNull();
  expect(next([], null)).toBeNull();
});
