// The page as a whole: on a phone one of list and session is there for keys and questions, and what was done is said below both.
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { LiveListener } from "../api/live";
import { AppContext } from "../app/AppContext";
import { createApp } from "../state/app";
import type { ServerFrame, SessionRow } from "../wire/names";
import { Page } from "./Page";

const ROW = { id: "s", title: "Mend the loom", agent: "guide", project: "/srv/loom", cwd: "/srv/loom", state: "idle", unobserved: false, turns: 1, activeAt: "2026-01-02T03:04:05.006Z", meta: { name: "" } } as SessionRow;
const ok = <T,>(value: T) => Promise.resolve({ ok: true as const, value });

interface Given {
  narrow: boolean;
  path?: string;
  rows?: SessionRow[];
  http?: object;
}

function open({ narrow, path = "/", rows = [ROW], http = {} }: Given) {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: narrow && query.includes("width <"), addEventListener: vi.fn(), removeEventListener: vi.fn() }));
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  history.replaceState(null, "", path);
  let listener: LiveListener | undefined;
  const asked: string[] = [];
  const never = () => new Promise<never>(() => undefined);
  const calls: Record<string, unknown> = { findSessions: () => ok({ sessions: [], metaContexts: [], unobservedCount: 0, nextCursor: null }), ...http };
  const app = createApp({
    http: new Proxy({} as never, {
      get: (_, name: string) => (...given: unknown[]) => {
        asked.push(name);
        return ((calls[name] as ((...given: unknown[]) => unknown) | undefined) ?? never)(...given);
      },
    }),
    openLive(given) {
      listener = given;
      return { follow: () => undefined, unfollow: () => undefined, openApplet: () => undefined, closeApplet: () => undefined, writeAppletState: () => new Promise<never>(() => undefined) };
    },
    schedule: (flush) => flush(),
  });
  render(
    <AppContext value={app}>
      <Page />
    </AppContext>,
  );
  const list = (sessions: SessionRow[]) => act(async () => listener?.frame({ type: "list", sessions, metaContexts: [], unobservedCount: 0, nextCursor: null } as unknown as ServerFrame));
  return { asked, list, ready: list(rows) };
}

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/");
});

test("on a phone the list takes no keys behind an open session", async () => {
  const { asked, ready } = open({ narrow: true, path: "/s/s" });
  await ready;
  await userEvent.keyboard("jxepl");
  expect(asked).not.toContain("fileSession");
  expect(document.activeElement?.closest("[data-row]") ?? null).toBeNull();
  expect(document.querySelector("dialog[open]")).toBeNull();
});

test.each([true, false])("first steps ask their questions once, narrow: %s", async (narrow) => {
  const { asked, ready } = open({ narrow, rows: [] });
  await ready;
  await screen.findByText("Start with one session");
  expect(asked.filter((name) => name === "imports")).toHaveLength(1);
  expect(asked.filter((name) => name === "agents")).toHaveLength(1);
});

test("where all sessions are archived there are no first steps", async () => {
  const archived = { ...ROW, archivedAt: "2026-01-02T03:04:05.006Z" };
  const pages = [
    { sessions: [], metaContexts: [], unobservedCount: 0, nextCursor: "1.x" },
    { sessions: [archived], metaContexts: [], unobservedCount: 0, nextCursor: null },
  ];
  const { asked, ready } = open({ narrow: false, rows: [], http: { findSessions: () => ok(pages.shift()) } });
  await ready;
  await screen.findByText("Every session is archived.");
  expect(screen.queryByText("Start with one session")).toBeNull();
  expect(asked).not.toContain("agents");
});

test("what was done is said in a region that was there before, and undone from there", async () => {
  const fileSession = vi.fn(() => ok({}));
  const { ready } = open({ narrow: false, http: { fileSession } });
  await ready;
  const regions = new Set(screen.getAllByRole("status"));
  act(() => document.querySelector<HTMLElement>('[data-row="s"]')?.focus());
  await userEvent.keyboard("p");
  expect(regions.has(await screen.findByText("Pinned 1 session."))).toBe(true);
  await userEvent.click(screen.getByRole("button", { name: "Undo" }));
  await screen.findByText("Unpinned 1 session.");
  expect(fileSession.mock.calls).toEqual([
    ["s", { pinned: true }],
    ["s", { pinned: false }],
  ]);
  await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
  await waitFor(() => expect(screen.queryByText(/1 session\./)).toBeNull());
});

const NEW_IN_LOOM = "/#new=/srv/loom";

test.each([true, false])("a newcomer sees the welcome, which offers the session that the address asks for, narrow: %s", async (narrow) => {
  const { ready } = open({ narrow, rows: [], path: NEW_IN_LOOM });
  await ready;
  await screen.findByText("Start with one session");
  expect(screen.queryByRole("dialog")).toBeNull();
  for (let twice = 0; twice < 2; twice++) {
    // Also after the dialog was closed again.
    await userEvent.click(screen.getByRole("button", { name: "New session in loom" }));
    expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/srv/loom");
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  }
});

test("whoever has sessions gets the dialog that the address asks for, once", async () => {
  const { ready, list } = open({ narrow: false, path: NEW_IN_LOOM });
  expect(screen.queryByRole("dialog")).toBeNull();
  await ready;
  expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/srv/loom");
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  await list([ROW]);
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a newcomer whose first session comes is not asked for another", async () => {
  const { ready, list } = open({ narrow: false, rows: [], path: NEW_IN_LOOM });
  await ready;
  await screen.findByText("Start with one session");
  await list([ROW]);
  expect(screen.queryByText("Start with one session")).toBeNull();
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a dialog that is open is not lost to the one that the address asks for, which comes after it", async () => {
  const { ready } = open({ narrow: false });
  await ready;
  await userEvent.keyboard("?");
  screen.getByRole("dialog", { name: "Keyboard shortcuts" });
  act(() => {
    history.replaceState(null, "", NEW_IN_LOOM);
    dispatchEvent(new Event("hashchange"));
  });
  expect(screen.getAllByRole("dialog")).toEqual([screen.getByRole("dialog", { name: "Keyboard shortcuts" })]);
  await userEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/srv/loom");
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("once a newcomer has begun a session, the directory that the address asked for is not offered again", async () => {
  localStorage.setItem("throughline.lastAgent", "guide");
  const { ready } = open({ narrow: false, rows: [], path: NEW_IN_LOOM, http: { createSession: () => ok({ id: "s" }) } });
  await ready;
  await userEvent.click(await screen.findByRole("button", { name: "New session in loom" }));
  const directory = () => screen.getByLabelText<HTMLInputElement>("Directory");
  await userEvent.clear(directory());
  await userEvent.type(directory(), "/srv/spindle");
  await userEvent.click(screen.getByRole("button", { name: "Start session" }));
  await waitFor(() => expect(location.pathname).toBe("/s/s"));
  expect(screen.queryByRole("dialog")).toBeNull();
  act(() => (document.activeElement as HTMLElement | null)?.blur());
  await userEvent.keyboard("n");
  expect(directory().value).toBe("/srv/spindle");
});
