// The end of an imported session: the agent that it comes from is offered first, or how to get it.
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { SessionRow } from "../../wire/names";
import { ImportedCard } from "./ImportedCard";

const row = { id: "s", agent: "claude" } as SessionRow;
const agent = (name: string, title: string, installed: boolean) => ({ name, title, description: "", installed, version: null, install: `Run \`get ${name}\`.`, signIn: null, notes: [] });

function show(catalog: object[]) {
  const agents = vi.fn(() => Promise.resolve({ ok: true as const, value: { agents: catalog } }));
  const resume = vi.fn((_: string, __: { key: string }) => Promise.resolve({ ok: false, failure: { kind: "unreachable" } }));
  render(<ImportedCard row={row} />, inApp({ http: { agents, resume } }));
  return { resume };
}

afterEach(cleanup);

test("the agent that it comes from is the first to go on with", async () => {
  show([agent("guide", "Guide", true), agent("codex", "Codex", true), agent("claude", "Claude Code", true)]);
  await screen.findByRole("button", { name: "Go on with Claude Code" });
  expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual(["Go on with Claude Code", "Go on with Codex"]);
});

test("it says whom the conversation was with, and not that a tool wrote it", async () => {
  show([agent("claude", "Claude Code", true)]);
  await screen.findByText("Imported: a conversation with Claude Code.");
});

test("where it is missing, the page says how to install it", async () => {
  show([agent("guide", "Guide", true), agent("claude", "Claude Code", false)]);
  await screen.findByText(/Claude Code is not installed on this machine/);
  expect(screen.getByText("get claude")).toBeTruthy();
  expect(screen.queryByRole("button", { name: /Go on with/ })).toBeNull();
});

test("what got no answer is asked for again under the same key", async () => {
  const { resume } = show([agent("codex", "Codex", true), agent("claude", "Claude Code", true)]);
  for (const name of ["Go on with Claude Code", "Go on with Codex", "Go on with Claude Code"]) {
    await userEvent.click(await screen.findByRole("button", { name }));
    await screen.findByText("The server did not answer.");
  }
  const keys = resume.mock.calls.map(([, { key }]) => key);
  expect(keys[2]).toBe(keys[0]);
  expect(keys[1]).not.toBe(keys[0]);
});

test("while the agent that it comes from may still be found, no other takes its place, and it is not said to be missing", async () => {
  const [codex, missing, found] = [agent("codex", "Codex", true), agent("claude", "Claude Code", false), agent("claude", "Claude Code", true)];
  let find = (): void => undefined;
  const whole = new Promise((resolve) => (find = () => resolve({ ok: true, value: { agents: [codex, found] } })));
  const agents = ({ soFar = false } = {}) => (soFar ? Promise.resolve({ ok: true, value: { agents: [codex, missing] } }) : whole);
  render(<ImportedCard row={row} />, inApp({ http: { agents } }));
  await screen.findByText("Imported: a conversation with Claude Code.");
  expect(screen.queryByRole("button")).toBeNull();
  expect(screen.queryByText(/not installed/)).toBeNull();
  await act(async () => find());
  expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual(["Go on with Claude Code", "Go on with Codex"]);
});
