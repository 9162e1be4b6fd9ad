// The end of an imported session: the agent that it comes from is offered first, or how to get it.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { SessionRow } from "../../wire/names";
import { ImportedCard } from "./ImportedCard";

const row = { id: "s", agent: "claude" } as SessionRow;
const agent = (name: string, title: string, installed: boolean) => ({ name, title, description: "", installed, version: null, install: `Run \`get ${name}\`.`, signIn: null, notes: [] });

function show(catalog: object[]) {
  const agents = vi.fn(() => Promise.resolve({ ok: true as const, value: { agents: catalog } }));
  render(<ImportedCard row={row} />, inApp({ http: { agents } }));
}

afterEach(cleanup);

test("the agent that it comes from is the first to go on with", async () => {
  show([agent("guide", "Guide", true), agent("codex", "Codex", true), agent("claude", "Claude Code", true)]);
  await screen.findByRole("button", { name: "Go on with Claude Code" });
  expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual(["Go on with Claude Code", "Go on with Codex"]);
});

test("where it is missing, the page says how to install it", async () => {
  show([agent("guide", "Guide", true), agent("claude", "Claude Code", false)]);
  await screen.findByText(/Claude Code is not installed on this machine/);
  expect(screen.getByText("get claude")).toBeTruthy();
  expect(screen.queryByRole("button", { name: /Go on with/ })).toBeNull();
});
