// What the list shows of what the server was asked: also after the list began anew, after a failure, and while two questions overlap.
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer } from "../api/http";
import type { LiveListener } from "../api/live";
import { AppContext } from "../app/AppContext";
import { createApp } from "../state/app";
import type { ServerFrame, SessionPage, SessionRow } from "../wire/names";
import { useListRows } from "./useListRows";
import type { ListView } from "./view";
import { firstView } from "./view";

const at = (minute: number) => `2026-01-02T03:${String(minute).padStart(2, "0")}:00.000Z`;
const row = (id: string, minute: number, change: Partial<SessionRow> = {}) => ({ id, activeAt: at(minute), title: id, agent: "guide", project: "/srv", state: "idle", ...change }) as SessionRow;
const page = (sessions: SessionRow[], nextCursor: string | null = null): SessionPage => ({ sessions, metaContexts: [], unobservedCount: 0, nextCursor });
const cursor = (id: string, minute: number) => `${Date.parse(at(minute))}.${id}`;
const unreachable: Answer<SessionPage> = { ok: false, failure: { kind: "unreachable" } };

/** A list whose questions are answered when the test says so. */
function open(change: Partial<ListView>) {
  let listener: LiveListener | undefined;
  const waiting: { asked: Record<string, unknown>; answer(answer: Answer<SessionPage>): Promise<void> }[] = [];
  const ask = (asked: object) => new Promise<Answer<SessionPage>>((resolve) => waiting.push({ asked: { ...asked }, answer: (answer) => act(async () => resolve(answer)) }));
  const http = { findSessions: vi.fn((query: object) => ask(query)), sessionsAfter: vi.fn((after: string) => ask({ after })) };
  const app = createApp({
    http: http as never,
    openLive(given) {
      listener = given;
      return { follow: () => undefined, unfollow: () => undefined, openApplet: () => undefined, closeApplet: () => undefined, writeAppletState: () => new Promise<never>(() => undefined) };
    },
    schedule: (flush) => flush(),
  });
  const connect = (first: SessionPage) => act(() => listener?.frame({ type: "list", ...first } as ServerFrame));
  const view = { ...firstView(), ...change };
  const { result, rerender } = renderHook(({ view }) => useListRows(view), {
    initialProps: { view },
    wrapper: ({ children }) => <AppContext value={app}>{children}</AppContext>,
  });
  const rest = () => act(() => vi.advanceTimersByTime(1_000));
  const shown = () => result.current.rows.map(({ id }) => id).join(" ");
  return { waiting, connect, rest, shown, look: (other: Partial<ListView>) => rerender({ view: { ...view, ...other } }), now: () => result.current };
}

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const OLD = { archivedAt: at(59) };

test("archived sessions are asked for again when the list begins anew, and stay until they have come", async () => {
  const { waiting, connect, rest, shown, now } = open({ shelf: "archived" });
  connect(page([row("c", 3)]));
  rest();
  await waiting.shift()?.answer({ ok: true, value: page([row("b", 2, OLD), row("a", 1, OLD)]) });
  expect(shown()).toBe("b a");
  connect(page([row("c", 3)]));
  expect(shown()).toBe("b a");
  rest();
  expect(waiting).toHaveLength(1);
  await waiting.shift()?.answer({ ok: true, value: page([row("b", 2, OLD)]) });
  expect(shown()).toBe("b");
  expect(now().unread).toBe(false);
});

test("a page that comes after the list began anew leaves no hole", async () => {
  const { waiting, connect, shown, now } = open({});
  connect(page([row("e", 5), row("d", 4)], cursor("d", 4)));
  act(() => now().readOn());
  connect(page([row("f", 6), row("e", 5)], cursor("e", 5)));
  await waiting.shift()?.answer({ ok: true, value: page([row("c", 3)]) });
  expect(shown()).toBe("f e d");
  const again = waiting.shift();
  expect(again?.asked).toEqual({ after: cursor("e", 5) });
  await again?.answer({ ok: true, value: page([row("d", 4)], cursor("d", 4)) });
  expect(shown()).toBe("f e d");
  act(() => now().readOn());
  expect(waiting.shift()?.asked).toEqual({ after: cursor("d", 4) });
});

test("a list that was read several pages down is as long after the connection was lost, and read anew", async () => {
  const { waiting, connect, shown, now } = open({});
  const pages = [page([row("f", 6), row("e", 5)], cursor("e", 5)), page([row("d", 4), row("c", 3)], cursor("c", 3)), page([row("b", 2), row("a", 1)], cursor("a", 1))] as const;
  connect(pages[0]);
  for (const next of pages.slice(1)) {
    act(() => now().readOn());
    await waiting.shift()?.answer({ ok: true, value: next });
  }
  expect(shown()).toBe("f e d c b a");
  connect(pages[0]);
  expect(shown()).toBe("f e d c b a");
  // Nobody scrolls: it is read by itself, as far as it had been and no further.
  await waiting.shift()?.answer({ ok: true, value: page([row("d", 4)], cursor("d", 4)) });
  expect(shown()).toBe("f e d c b a");
  await waiting.shift()?.answer({ ok: true, value: page([row("b", 2), row("a", 1)], cursor("a", 1)) });
  expect(shown()).toBe("f e d b a");
  expect(waiting).toEqual([]);
  expect(now().more).toBe(true);
});

test("a filter that was read several pages down is asked for as far again", async () => {
  const { waiting, connect, rest, shown, now } = open({ shelf: "archived" });
  connect(page([]));
  rest();
  await waiting.shift()?.answer({ ok: true, value: page([row("c", 3, OLD)], cursor("c", 3)) });
  act(() => now().readOn());
  await waiting.shift()?.answer({ ok: true, value: page([row("b", 2, OLD)], cursor("b", 2)) });
  expect(shown()).toBe("c b");
  connect(page([]));
  rest();
  await waiting.shift()?.answer({ ok: true, value: page([row("c", 3, OLD)], cursor("c", 3)) });
  expect(shown()).toBe("c b");
  const second = waiting.shift();
  expect(second?.asked).toMatchObject({ archived: "only", after: cursor("c", 3) });
  await second?.answer({ ok: true, value: page([row("b", 2, OLD)], cursor("b", 2)) });
  expect([shown(), waiting.length, now().more]).toEqual(["c b", 0, true]);
});

test("a failure and the reading of one question are none of the next one", async () => {
  const { waiting, connect, rest, look, now, shown } = open({ text: "loom" });
  connect(page([row("loom", 3)]));
  rest();
  await waiting.shift()?.answer(unreachable);
  expect(now().failure).toBe("The server did not answer.");
  look({ text: "loo" });
  expect(now().failure).toBeNull();
  rest();
  await waiting.shift()?.answer({ ok: true, value: page([row("loom", 3)], cursor("loom", 3)) });
  act(() => now().readOn());
  expect(now().reading).toBe(true);
  look({ text: "lo" });
  expect(now().reading).toBe(false);
  rest();
  const [older, other] = waiting.splice(0);
  await other?.answer({ ok: true, value: page([row("loom", 3)], cursor("loom", 3)) });
  // The page of the question before comes late, and the next page of this one can be read all the same.
  act(() => now().readOn());
  expect(waiting).toHaveLength(1);
  await older?.answer(unreachable);
  expect(now()).toMatchObject({ failure: null, reading: true });
  await waiting.shift()?.answer({ ok: true, value: page([row("loop", 1)]) });
  expect(shown()).toBe("loom loop");
  expect(now()).toMatchObject({ reading: false, more: false });
});
