// A next step: how it stands is the server's word, a click goes out once, and what is sent is in sight.
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import { UNREAD_LIST } from "../../state/sessionList";
import type { Next, NextBlock } from "../../wire/blocks";
import type { AgentCommand, AgentOption, SessionRow } from "../../wire/names";
import { NextStep } from "./NextStep";
import { NextStepsContext, useNextSteps } from "./useNextSteps";

const NEXT: Next = { label: "Write the plan", command: "/plan specs/loom", metaContext: "Loom" };
const OPTIONS: AgentOption[] = [
  { category: "model", id: "m", name: "Model", value: "big", choices: [{ value: "big", name: "Big" }, { value: "small", name: "Small" }] },
];
const MISSING = { ok: false, failure: { kind: "refused", status: 404, code: "session_not_found", message: "there is no such session" } };
const went = { ok: true, value: { sessionId: "new", metaContextId: "w" } };

beforeAll(() => {
  HTMLElement.prototype.showPopover ??= () => undefined;
});
afterEach(cleanup);

interface Setting {
  next?: Next;
  commands?: AgentCommand[];
  standing?: Partial<NextBlock> | "unreachable";
  row?: Partial<SessionRow>;
  takeNext?: (session: string, step: string, wish: object) => Promise<unknown>;
}

/** The step is in the second page. */
function pageOf(before: string | null, step: object): object {
  return before === null ? { blocks: [{ id: "t9.n1", turn: 9, state: "open" }], nextCursor: "t9.n1" } : { blocks: [step], nextCursor: null };
}

function show({ next = NEXT, commands = [], standing = { state: "open" } as Partial<NextBlock>, takeNext = () => Promise.resolve(went), row = {} }: Setting) {
  const readSession = vi.fn(() => Promise.resolve(MISSING));
  const nextSteps = vi.fn((_: string, before: string | null) =>
    Promise.resolve(standing === "unreachable" ? { ok: false, failure: { kind: "unreachable" } } : { ok: true, value: pageOf(before, { id: "t3.n1", turn: 3, ...next, ...standing }) }),
  );
  const http = { nextSteps, takeNext: vi.fn(takeNext), readSession, agents: () => Promise.resolve({ ok: true, value: { agents: [{ name: "codex", title: "Codex", installed: true }, { name: "absent", title: "Absent", installed: false }] } }) };
  const rows = new Map([["other", { id: "other", title: "The plan", ...row } as SessionRow]]);
  const onWent = vi.fn();
  function Page({ changed }: { changed: number }) {
    const steps = useNextSteps({ session: "s", agent: "guide", options: OPTIONS, commands, changed, onWent });
    return (
      <NextStepsContext value={steps}>
        <NextStep turn={3} nth={1} next={next} />
      </NextStepsContext>
    );
  }
  const { rerender, container } = render(<Page changed={1} />, inApp({ http, state: { list: { ...UNREAD_LIST, rows } } }));
  return { ...http, standing: standing as Partial<NextBlock>, onWent, container, change: (changed: number) => rerender(<Page changed={changed} />) };
}

const button = () => screen.getByRole<HTMLButtonElement>("button", { name: "Write the plan" });
const isOff = () => button().getAttribute("aria-disabled") === "true";
const settled = () => act(() => new Promise((resolve) => setTimeout(resolve)));

test("a step whose command the agent has not told of says so, and can be taken all the same", async () => {
  const { container } = show({ commands: [{ name: "spec", description: "Writes a spec" }] });
  await settled();
  expect(container.textContent).toContain("guide lists no command /plan; it may take this as plain text");
  expect(isOff()).toBe(false);
  cleanup();
  const known = show({ commands: [{ name: "plan", description: "Writes a plan" }] });
  await settled();
  expect(known.container.textContent).not.toContain("lists no command");
});

test("an open step says what it sends and where, and goes by key, once", async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { takeNext, onWent, container } = show({ takeNext: () => new Promise((resolve) => (answer = resolve)) });
  expect(isOff()).toBe(true);
  await settled();
  expect(container.textContent).toContain("Begins a session in the work Loom");
  expect(container.textContent).toContain("/plan specs/loom");
  button().focus();
  await userEvent.keyboard("{Enter}");
  expect(button().getAttribute("aria-disabled")).toBe("true");
  expect(screen.getByRole("status").textContent).toBe("Beginning a session…");
  await userEvent.keyboard(" ");
  expect(takeNext.mock.calls).toEqual([["s", "t3.n1", {}]]);
  await act(() => Promise.resolve(answer(went)));
  expect(onWent.mock.calls).toEqual([["new"]]);
  expect(isOff()).toBe(true);
});

test("a step that is taken elsewhere keeps the focus that it has, in its menu too", async () => {
  const { standing, change } = show({});
  await settled();
  const before = button();
  before.focus();
  standing.state = "used";
  standing.sessionId = "other";
  change(2);
  await screen.findByRole("link", { name: "The plan" });
  expect(button()).toBe(before);
  expect(document.activeElement).toBe(before);

  cleanup();
  const again = show({});
  await settled();
  await userEvent.click(screen.getByRole("button", { name: "Choose an agent for this step" }));
  expect(document.activeElement).toBe(screen.getByLabelText("Agent"));
  Object.assign(again.standing, { state: "used", sessionId: "other" });
  again.change(2);
  await screen.findByRole("link", { name: "The plan" });
  expect(document.activeElement).toBe(button());
});

test.each([
  ["in the list", "other", { deletedAt: "2026-01-02T03:04:05.006Z" }, 0],
  ["for good", "purged", {}, 1],
])("a step whose session was deleted says so and leads nowhere: %s", async (_, sessionId, row, asked) => {
  const { readSession, container } = show({ standing: { state: "used", sessionId }, row });
  await settled();
  expect(container.textContent).toContain("Went on in a session that was deleted");
  expect(screen.queryByRole("link")).toBeNull();
  expect(readSession).toHaveBeenCalledTimes(asked);
});

test("a used step leads to where it went on", async () => {
  show({ standing: { state: "used", sessionId: "other" } });
  const link = await screen.findByRole("link", { name: "The plan" });
  expect(link.getAttribute("href")).toBe("/s/other");
  expect(link.parentElement?.textContent).toBe("Went on in The plan");
  expect(isOff()).toBe(true);
});

test("a superseded step leads to the one that took its place", async () => {
  show({ standing: { state: "superseded", supersededBy: 12 } });
  await userEvent.click(await screen.findByRole("link", { name: "Go to turn 12" }));
  expect(location.hash).toBe("#t12");
  expect(isOff()).toBe(true);
});

test.each([undefined, "", "  "])("a step without a piece of work (%j) has no button and says what to do, without asking the server", async (metaContext) => {
  const { nextSteps, container } = show({ next: { label: "Go", command: "/go", ...(metaContext === undefined ? {} : { metaContext }) } });
  await settled();
  expect(screen.queryByRole("button")).toBeNull();
  expect(container.textContent).toContain("metaContext");
  expect(container.textContent).toContain("Ask it to offer the step again");
  expect(nextSteps).not.toHaveBeenCalled();
});

test("what goes wrong is said beside it, and how it stands is looked up again", async () => {
  const { nextSteps, onWent } = show({ takeNext: () => Promise.resolve({ ok: false, failure: { kind: "refused", status: 409, code: "x", message: "the work is gone" } }) });
  await settled();
  await userEvent.click(button());
  expect(screen.getByRole("alert").textContent).toBe("The work is gone.");
  expect(nextSteps).toHaveBeenCalledTimes(4);
  expect(onWent).not.toHaveBeenCalled();
  expect(button().getAttribute("aria-disabled")).toBe("false");
});

test("it is asked again when a step came or was taken, and on request when nobody answered", async () => {
  const { nextSteps, change } = show({ standing: "unreachable" });
  await settled();
  expect(isOff()).toBe(true);
  change(2);
  await settled();
  expect(nextSteps).toHaveBeenCalledTimes(2);
  await userEvent.click(screen.getByRole("button", { name: "Look again" }));
  expect(nextSteps).toHaveBeenCalledTimes(3);
});

test("another agent, or another model of this one, can be chosen; only those that are installed", async () => {
  const { takeNext, container } = show({});
  await settled();
  await userEvent.click(screen.getByRole("button", { name: "Choose an agent for this step" }));
  await userEvent.selectOptions(screen.getByLabelText("Model"), "small");
  expect(container.textContent).toContain(", with Small");
  const agent = screen.getByLabelText<HTMLSelectElement>("Agent");
  expect([...agent.options].map(({ text }) => text)).toEqual(["guide, as here", "Codex"]);
  await userEvent.selectOptions(agent, "codex");
  expect(screen.queryByLabelText("Model")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Go on" }));
  expect(takeNext.mock.calls).toEqual([["s", "t3.n1", { agent: "codex" }]]);
});

test("a command is in sight whole, with its lines and its hidden characters", async () => {
  const command = `First this.\nThen that\u202E${" and more".repeat(10)}`;
  show({ next: { ...NEXT, label: "<b>Go</b>\u202E", command } });
  await settled();
  expect(screen.getByRole("button", { name: "<b>Go</b>⟨U+202E⟩" })).toBeTruthy();
  expect(screen.getByRole("region", { name: "What is sent" }).textContent).toBe(command.replace("\u202E", "⟨U+202E⟩"));
});
