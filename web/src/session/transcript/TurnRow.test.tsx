// A turn on the page: everybody's words are text, and its end is told in words, not by colour alone.
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { TranscriptTurn } from "../../state/transcript";
import type { Author } from "../../wire/names";
import type { Compose } from "../composer/ComposeContext";
import { ComposeContext } from "../composer/ComposeContext";
import type { ForkWish } from "../forking/ForkContext";
import { ForkContext } from "../forking/ForkContext";
import { TurnRow } from "./TurnRow";

const AT = "2026-01-02T03:04:05.006Z";
const turn: TranscriptTurn = {
  turn: 3,
  interactionId: "i",
  prompt: "say hello",
  by: { type: "person" },
  images: [],
  resume: null,
  items: [{ type: "text", block: 0, text: "hello" }],
  blocks: [],
  usage: null,
  outcome: "completed",
  reason: null,
  startedAt: AT,
  endedAt: AT,
};

const actions = { answer: vi.fn(), stop: vi.fn(() => Promise.resolve({ ok: true as const, value: {} })), readLarge: vi.fn() };

const markdown = vi.fn(() => Promise.resolve({ ok: true as const, value: "## 3" }));

function show(change: Partial<TranscriptTurn>, stalled = false, { newest = true, compose = null as Compose | null, fork = null as ((wish: ForkWish) => void) | null } = {}) {
  const rest = { session: "s", past: null, from: null, fromGone: false, first: true, last: true, newest, retied: false, stalled, lit: false, answeredAt: new Map(), actions, now: Date.parse(AT) };
  render(
    <ComposeContext value={compose}>
      <ForkContext value={fork}>
        <TurnRow turn={{ ...turn, ...change }} {...rest} />
      </ForkContext>
    </ComposeContext>,
    inApp({ http: { markdown } }),
  );
  return screen.getByRole("article", { name: "Turn 3" });
}

afterEach(cleanup);

test("an answer is copied as it was written, and a turn as the server writes it", async () => {
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  show({ items: [{ type: "text", block: 0, text: "**hello**\n" }, { type: "thought", block: 0, text: "hm" }, { type: "text", block: 1, text: "bye" }] });
  fireEvent.click(screen.getByRole("button", { name: "Copy the answer" }));
  await waitFor(() => expect(writeText).toHaveBeenCalledExactlyOnceWith("**hello**\n\nbye"));
  fireEvent.click(screen.getByRole("button", { name: "Copy turn 3 as Markdown" }));
  await waitFor(() => expect(writeText).toHaveBeenLastCalledWith("## 3"));
  expect(markdown).toHaveBeenCalledExactlyOnceWith("s", 3);
  vi.unstubAllGlobals();
});

test("a turn that runs is not copied", () => {
  show({ outcome: null });
  expect(screen.queryByRole("button", { name: "Copy the answer" })).toBeNull();
});

test("what looks like HTML is shown as it was written", () => {
  const hostile = "<img src=x onerror=alert(1)><b>bold</b>";
  const article = show({ prompt: hostile, items: [{ type: "text", block: 0, text: hostile }] });
  expect(article.querySelector("img, b")).toBeNull();
  expect(screen.getByRole("heading", { name: hostile })).toBeTruthy();
  expect(article.textContent).toContain(hostile);
});

test.each([
  [{ outcome: null, items: [] }, "Waiting for the first words…"],
  [{ items: [] }, "Ended without an answer."],
  [{ outcome: "cancelled" }, "Stopped."],
  [{ outcome: "failed", reason: "exit code 1" }, "Failed. Exit code 1."],
  [{ outcome: "failed", reason: null }, "Failed."],
  [{ outcome: "failed", reason: "signed_out" }, "Failed. The agent wants you to sign in first. Then send the prompt again."],
  [{ outcome: "interrupted", reason: "server_restart" }, "Interrupted. The server ended while this turn ran. What was written down until then is kept."],
  [{ outcome: "interrupted", reason: "server_shutdown", items: [] }, "The server was shut down while this turn ran. Nothing had been written down yet."],
  [{ outcome: "interrupted", reason: "agent_gone" }, "Interrupted. The agent ended while this turn ran. What was"],
  [{ outcome: "interrupted", reason: "handed_over" }, "Interrupted. The session was handed over to another agent while this turn ran. What was"],
  [{ outcome: "completed", reason: "max_tokens" }, "Ended early. The agent reached the most words it may write in one answer."],
  [{ outcome: "completed", reason: "max_turn_requests" }, "Ended early. The agent reached the most steps it may take in one turn."],
  [{ outcome: "completed", reason: "refusal" }, "Ended early. The agent declined to go on."],
  [{ outcome: "completed", reason: "out_of_yarn" }, "Ended early. Out of yarn."],
] satisfies [Partial<TranscriptTurn>, string][])("%j is told in words", (change, words) => {
  expect(show(change).textContent).toContain(words);
});

test("an agent that is silent for too long can be stopped", async () => {
  const article = show({ outcome: null }, true);
  expect(article.textContent).toContain("Not answering for a while.");
  await userEvent.click(screen.getByRole("button", { name: "Stop this turn" }));
  expect(actions.stop).toHaveBeenCalledOnce();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Stopping…" }).disabled).toBe(true);
});

test("a turn that ended is not said to be silent", () => {
  expect(show({}, true).textContent).not.toContain("Not answering");
});

test.each([
  [{ type: "agent", session: "0190a8c0" }, "Sent by an agent, from session 0190a8c0"],
  [{ type: "applet", name: "loom" }, "Sent by the applet “loom”"],
  [{ type: "applet", name: "_shown" }, "Sent by an applet that is not saved"],
  [{ type: "step", session: "0190a8c0", block: "t3.n1" }, "Sent by pressing a next step"],
  [{ type: "oracle" } as unknown as Author, "Not sent by a person"],
] satisfies [Author, string][])("a prompt by %j says who wrote it", (by, words) => {
  expect(show({ by }).textContent).toContain(words);
});

test("a person's prompt says nothing of its author, whatever its words begin with", () => {
  const shown = show({ by: { type: "person", name: "phone" }, prompt: "[agent:loom] weave" }).textContent;
  expect(shown).toContain("[agent:loom] weave");
  expect(shown).not.toMatch(/Sent by|phone/);
});

test("an answer can be given while the turn runs, and not after", () => {
  const asked = { type: "permission" as const, request: 1, title: "Run it?", kind: "execute" as const, subject: "make", answer: null };
  const items = [{ ...asked, options: [{ id: "y", name: "Yes", kind: "allow_once" as const }] }];
  show({ outcome: null, items });
  expect(screen.getByRole("region", { name: /^Needs you/ })).toBeTruthy();
  cleanup();
  expect(show({ items }).textContent).toContain("Not answered: it was withdrawn");
  expect(screen.queryByRole("region", { name: /^Needs you/ })).toBeNull();
});

test("the newest prompt can be taken up again with its pictures, where prompts can be written", async () => {
  const compose = { edit: vi.fn(), add: vi.fn() };
  const images = [{ mimeType: "image/png", data: "AAAA" }];
  show({ images }, false, { compose });
  await userEvent.click(screen.getByRole("button", { name: "Edit and send again" }));
  expect(compose.edit).toHaveBeenCalledExactlyOnceWith({ text: "say hello", images });
  cleanup();
  show({}, false, { compose, newest: false });
  expect(screen.queryByRole("button", { name: "Edit and send again" })).toBeNull();
  cleanup();
  show({});
  expect(screen.queryByRole("button", { name: "Edit and send again" })).toBeNull();
});

// The test's browser knows no popovers.
beforeAll(() => {
  HTMLElement.prototype.showPopover = () => undefined;
});

test("an earlier prompt is written anew in a fork from before it, and a turn that has ended is forked after it", async () => {
  const fork = vi.fn();
  const images = [{ mimeType: "image/png", data: "AAAA" }];
  show({ images }, false, { fork, newest: false });
  await userEvent.click(screen.getByRole("button", { name: "Edit and send in a fork" }));
  expect(fork).toHaveBeenLastCalledWith({ after: 2, edits: 3, text: "say hello", images });
  await userEvent.click(screen.getByRole("button", { name: "Fork from turn 3" }));
  expect(fork).toHaveBeenLastCalledWith({ after: 3, edits: null, text: "", images: [] });
  cleanup();
  show({ outcome: null }, false, { fork });
  expect(screen.queryByRole("button", { name: "Fork from turn 3" })).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "More of turn 3" }));
  await userEvent.click(screen.getByRole("button", { name: "Edit and send in a fork" }));
  expect(fork).toHaveBeenLastCalledWith({ after: 2, edits: 3, text: "say hello", images: [] });
  cleanup();
  show({});
  expect(screen.queryByRole("button", { name: /fork/i })).toBeNull();
});

test("a prompt's own words are copied, as they were written", async () => {
  const user = userEvent.setup();
  show({ prompt: "say \u202Ehello" });
  await user.click(screen.getByRole("button", { name: "Copy the prompt" }));
  expect(await navigator.clipboard.readText()).toBe("say \u202Ehello");
  expect(screen.getByText("Copied")).toBeTruthy();
});
