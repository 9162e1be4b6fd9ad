// What is offered while the agent is not there, and how its own words are shown.
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { Http } from "../../api/http";
import { inApp } from "../../app/inApp";
import type { AgentView } from "../../state/agent";
import { UNKNOWN_AGENT } from "../../state/agent";
import type { Followed } from "../../state/followed";
import { NOT_READ } from "../../state/followed";
import type { Agent, SessionRow } from "../../wire/names";
import { AgentCard } from "./AgentCard";
import { HandOver } from "./HandOver";

const row = { id: "s", agent: "claude", state: "idle", failure: null } as unknown as SessionRow;
const METHODS = [
  { id: "oauth", name: "Log in with Claude", description: "Opens a browser." },
  { id: "key", name: "\u202EAPI key<b>", description: null },
];
const AGENTS: Agent[] = [
  { name: "claude", title: "Claude Code", description: "", installed: true, notes: [], signIn: "Run `claude auth login` once." },
  { name: "guide", title: "Guide", description: "", installed: true, notes: [], version: "1.0" },
  { name: "codex", title: "Codex", description: "", installed: false, notes: [] },
];

function fake(answer: unknown = { ok: true, value: {} }) {
  return {
    agents: vi.fn(() => Promise.resolve({ ok: true, value: { agents: AGENTS } })),
    resume: vi.fn(() => Promise.resolve(answer)),
    signInToAgent: vi.fn(() => Promise.resolve(answer)),
  } as unknown as Http;
}

const view = (change: Partial<AgentView>): AgentView => ({ ...UNKNOWN_AGENT, ...change });
const refused = { ok: false, failure: { kind: "refused", status: 409, code: "x", message: "a turn is running" } };

afterEach(cleanup);

test("signing in offers the agent's own methods, says what is under way, and how else it goes", async () => {
  const http = fake();
  const shown = render(<AgentCard row={row} agent={view({ state: "signed_out", methods: METHODS })} />, inApp({ http }));
  await screen.findByRole("heading", { name: "Claude Code wants you to sign in" });
  expect(screen.getByText("claude auth login").tagName).toBe("CODE");
  expect(screen.getByRole("button", { name: "⟨U+202E⟩API key<b>" })).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Log in with Claude" }));
  expect(http.signInToAgent).toHaveBeenCalledExactlyOnceWith("s", { method: "oauth", key: expect.any(String) as string });
  await screen.findByText(/^Signing in\./);
  // The agent asks again: it did not work.
  shown.rerender(<AgentCard row={row} agent={view({ state: "signed_out", methods: [...METHODS] })} />);
  expect(screen.getByRole("alert").textContent).toBe("The agent still wants you to sign in.");
  expect(screen.queryByText(/^Signing in\./)).toBeNull();
});

test("a method that needs a terminal is a line to copy, and then the agent is started again", async () => {
  const http = fake();
  const methods = [{ id: "login", name: "In a terminal", run: "env 'A=`b`' claude login\u202E" }];
  render(<AgentCard row={row} agent={view({ state: "signed_out", methods })} />, inApp({ http }));
  expect(screen.getByText("env 'A=`b`' claude login⟨U+202E⟩").tagName).toBe("CODE");
  expect(screen.getByRole("button", { name: "Copy env 'A=`b`' claude login⟨U+202E⟩" })).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(http.resume).toHaveBeenCalledExactlyOnceWith("s", { key: expect.any(String) as string });
  expect(http.signInToAgent).not.toHaveBeenCalled();
});

test("a prompt that waits for the sign-in is sent by trying again; it is not to be sent a second time", async () => {
  const http = fake();
  const queue = [{ interactionId: "i", text: "Begin." }] as unknown as Followed["queue"];
  const state = { followed: new Map([["s", { ...NOT_READ, queue }]]) };
  render(<AgentCard row={row} agent={view({ state: "signed_out", methods: METHODS })} />, inApp({ http, state }));
  expect(screen.getByRole("region", { name: /^Sign in to/ }).textContent).toContain("Then try again: the prompt that waits is sent.");
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(http.resume).toHaveBeenCalledExactlyOnceWith("s", { key: expect.any(String) as string });
});

test("where no prompt waits, the next one is what brings the agent back", () => {
  render(<AgentCard row={row} agent={view({ state: "signed_out", methods: METHODS })} />, inApp({ http: fake() }));
  expect(screen.getByRole("region", { name: /^Sign in to/ }).textContent).toContain("Then send your prompt again.");
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
});

test("a sign-in that is refused is told in words", async () => {
  render(<AgentCard row={row} agent={view({ state: "signed_out", methods: METHODS })} />, inApp({ http: fake(refused) }));
  await userEvent.click(screen.getByRole("button", { name: "Log in with Claude" }));
  expect((await screen.findByRole("alert")).textContent).toBe("A turn is running.");
});

test("a failure is told with its reason, and can be tried again", async () => {
  const http = fake();
  render(<AgentCard row={row} agent={view({ state: "failed", reason: "it exited\u001b[31m with 1" })} />, inApp({ http }));
  expect(screen.getByRole("region", { name: "The agent failed" }).textContent).toContain("It exited␛[31m with 1.");
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(http.resume).toHaveBeenCalledExactlyOnceWith("s", { key: expect.any(String) as string });
});

test.each(["failed", "signed_out"] as const)("an agent that the session was handed over to and that %s has a way back beside it", async (state) => {
  const http = fake();
  render(<AgentCard row={row} agent={view({ state, methods: METHODS })} before="guide" />, inApp({ http }));
  await userEvent.click(screen.getByRole("button", { name: "Back to guide" }));
  expect(http.resume).toHaveBeenCalledExactlyOnceWith("s", { agent: "guide", key: expect.any(String) as string });
});

test("a stopped agent can be brought back; one that is there needs no card", async () => {
  const http = fake(refused);
  const shown = render(<AgentCard row={row} agent={view({ state: "stopped", reason: "server_restart" })} />, inApp({ http }));
  await userEvent.click(screen.getByRole("button", { name: "Bring the agent back" }));
  expect((await screen.findByRole("alert")).textContent).toBe("A turn is running.");
  shown.rerender(<AgentCard row={row} agent={view({ state: "ready" })} />);
  expect(shown.container.textContent).toBe("");
});

test("a session is handed over to another installed agent by the keyboard alone", async () => {
  const http = fake();
  render(<HandOver row={row} running={false} />, inApp({ http }));
  await userEvent.tab();
  await userEvent.keyboard("{Enter}");
  const guide = await screen.findByRole("button", { name: /Guide/ });
  expect(screen.queryByRole("button", { name: /Codex|Claude/ })).toBeNull();
  await userEvent.keyboard("{ArrowDown}");
  expect(document.activeElement).toBe(guide);
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(http.resume).toHaveBeenCalledExactlyOnceWith("s", { agent: "guide", key: expect.any(String) as string }));
  await waitFor(() => expect(screen.queryByRole("group")).toBeNull());
});

test("while a turn runs nothing is handed over; Escape closes and gives the focus back", async () => {
  render(<HandOver row={row} running />, inApp({ http: fake() }));
  const opener = screen.getByRole("button", { name: "Hand over to…" });
  await userEvent.click(opener);
  expect((await screen.findByRole<HTMLButtonElement>("button", { name: /Guide/ })).disabled).toBe(true);
  expect(screen.getByText("Stop the running turn first.")).toBeTruthy();
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("group")).toBeNull();
  expect(document.activeElement).toBe(opener);
});
