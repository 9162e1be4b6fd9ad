import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Http } from "../api/http";
import { inApp } from "../app/inApp";
import type { Imports } from "../wire/names";
import { ImportOffer } from "./ImportOffer";

const nothing: Imports["progress"] = {
  running: false,
  following: false,
  done: 0,
  total: 0,
  added: 0,
  updated: 0,
  unchanged: 0,
  leftAlone: 0,
  turns: 0,
  skipped: {},
  failed: 0,
  failures: [],
};

function server(imports: Imports): { http: Http; begin: ReturnType<typeof vi.fn> } {
  let now = imports;
  const begin = vi.fn(() => {
    now = { ...imports, progress: { ...nothing, done: 3, total: 3, added: 3, turns: 12 } };
    return Promise.resolve({ ok: true, value: { ...nothing, running: true, total: 3 } });
  });
  const http = { imports: () => Promise.resolve({ ok: true, value: now }), beginImport: begin } as unknown as Http;
  return { http, begin };
}

beforeEach(() => localStorage.clear());
afterEach(cleanup);

test("nothing is offered where nothing was found", async () => {
  const { http } = server({ sources: [], progress: nothing });
  render(<ImportOffer />, inApp({ http }));
  await Promise.resolve();
  expect(screen.queryByText("Import what you already have")).toBeNull();
});

test("what was found is brought in, and its end is told", async () => {
  const { http, begin } = server({ sources: [{ tool: "claude", sessions: 3, bytes: 10 }], progress: nothing });
  render(<ImportOffer />, inApp({ http }));
  expect(await screen.findByText(/3 conversations were found on this machine: 3 of Claude Code/)).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Import" }));
  expect(begin).toHaveBeenCalledOnce();
  await waitFor(() => expect(screen.getByText("Imported 3 sessions with 12 turns.")).toBeTruthy());
});

test("how far it is, is not read out again and again; that it begins and has ended is", async () => {
  let progress = nothing;
  const imports = vi.fn(() => Promise.resolve({ ok: true, value: { sources: [{ tool: "claude", sessions: 3, bytes: 10 }], progress } }));
  const beginImport = () => Promise.resolve({ ok: true, value: (progress = { ...nothing, running: true, total: 3 }) });
  render(<ImportOffer />, inApp({ http: { imports, beginImport } }));
  const begin = await screen.findByRole("button", { name: "Import" });
  const region = screen.getByRole("status");
  expect(region.textContent).toBe("");
  await userEvent.click(begin);
  expect(region.textContent).toBe("Importing…");
  progress = { ...progress, done: 2, turns: 8 };
  await screen.findByText("2 of 3 conversations, 8 turns");
  expect(region.textContent).toBe("Importing…");
  progress = { ...nothing, done: 3, total: 3, added: 3, turns: 12 };
  await waitFor(() => expect(region.textContent).toBe("Imported 3 sessions with 12 turns."));
});

test("one is one", async () => {
  const { http } = server({ sources: [{ tool: "codex", sessions: 1, bytes: 10 }], progress: { ...nothing, done: 1, total: 1, added: 1, turns: 1 } });
  render(<ImportOffer />, inApp({ http }));
  expect(await screen.findByText("Imported 1 session with 1 turn.")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Done" })).toBeTruthy();
});

test("whoever does not want it is not asked again", async () => {
  const { http } = server({ sources: [{ tool: "codex", sessions: 1, bytes: 10 }], progress: nothing });
  const first = render(<ImportOffer />, inApp({ http }));
  await userEvent.click(await screen.findByRole("button", { name: "Not now" }));
  first.unmount();
  render(<ImportOffer />, inApp({ http }));
  await Promise.resolve();
  expect(screen.queryByText("Import what you already have")).toBeNull();
});

test("it is not offered again once something was imported, also after a restart", async () => {
  const { http } = server({ sources: [{ tool: "claude", sessions: 3, known: 2, bytes: 10 }], progress: nothing });
  const looked = vi.spyOn(http, "imports");
  render(<ImportOffer />, inApp({ http }));
  await waitFor(() => expect(looked).toHaveBeenCalled());
  await looked.mock.results[0]?.value;
  expect(screen.queryByText("Import what you already have")).toBeNull();
});
