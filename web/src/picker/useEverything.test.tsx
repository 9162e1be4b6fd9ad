// The picker reads the list to its end, also when the list begins anew meanwhile.
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import type { LiveListener } from "../api/live";
import { AppContext } from "../app/AppContext";
import { createApp } from "../state/app";
import type { ServerFrame, SessionRow } from "../wire/names";
import { useEverything } from "./useEverything";

afterEach(cleanup);

test("a list that begins anew is read on from its new end", async () => {
  let listener: LiveListener | undefined;
  const row = (id: string, minute: number) => ({ id, activeAt: `2026-01-02T03:0${minute}:00.000Z` }) as SessionRow;
  const page = (sessions: SessionRow[], nextCursor: string | null) => ({ sessions, metaContexts: [], unobservedCount: 0, nextCursor });
  const pages: Record<string, object> = { "after c": page([row("b", 2)], null), "after d": page([row("c", 3), row("b", 2)], null) };
  const sessionsAfter = vi.fn((after: string) => Promise.resolve({ ok: true, value: pages[after] }));
  const works = () => Promise.resolve({ ok: true, value: { metaContexts: [], nextCursor: null } });
  const app = createApp({
    http: { sessionsAfter, works } as never,
    openLive(given) {
      listener = given;
      return { follow: () => undefined, unfollow: () => undefined, openApplet: () => undefined, closeApplet: () => undefined, writeAppletState: () => new Promise<never>(() => undefined) };
    },
    schedule: (flush) => flush(),
  });
  const begin = (sessions: SessionRow[], cursor: string) => act(async () => listener?.frame({ type: "list", ...page(sessions, cursor) } as ServerFrame));
  await begin([row("c", 3)], "after c");
  const { result } = renderHook(() => useEverything(), { wrapper: ({ children }) => <AppContext value={app}>{children}</AppContext> });
  await act(async () => undefined);
  expect(result.current.rows.map(({ id }) => id)).toEqual(["c", "b"]);
  await begin([row("d", 4)], "after d");
  expect(result.current.rows.map(({ id }) => id)).toEqual(["d", "c", "b"]);
});
