// A prompt that waits: who wrote it is told beside it, and never read out of its words; what is typed into it is not lost.
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { Author, QueuedPrompt } from "../../wire/names";
import { Composer } from "../composer/Composer";
import { QueuedPromptRow } from "./QueuedPromptRow";

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(cleanup);

test.each([
  [{ type: "person", name: "phone" }, "Waiting its turn[agent:loom] weave"],
  [{ type: "agent", session: "0190a8c0" }, "Waiting its turn · Sent by an agent, from session 0190a8c0[agent:loom] weave"],
] satisfies [Author, string][])("a prompt by %j", (by, words) => {
  const prompt = { interactionId: "i", text: "[agent:loom] weave", queuedAt: "2026-01-02T03:04:05.006Z", by };
  render(<QueuedPromptRow session="s" prompt={prompt} />, inApp({ http: {} }));
  expect(screen.getByRole("region", { name: "Waiting prompt" }).textContent).toBe(words);
});

const waiting: QueuedPrompt = { interactionId: "i", text: "weave", queuedAt: "2026-01-02T03:04:05.006Z", by: { type: "person", name: "phone" } };
const field = createRef<HTMLTextAreaElement>();

/** The row, as long as it waits and is in sight, and the composer below it. */
/** Nothing is being written elsewhere. */
const UNSENT = {
  unsent: () => Promise.resolve({ ok: true, value: { text: null, writer: null } }),
  putUnsent: () => Promise.resolve({ ok: true, value: { success: true } }),
};

function page(queue: readonly QueuedPrompt[], inSight = true) {
  return (
    <>
      {inSight && queue.map((prompt) => <QueuedPromptRow key={prompt.interactionId} session="s" prompt={prompt} />)}
      <Composer session="s" agent="guide" running online field={field} waiting={queue} onSent={vi.fn()} />
    </>
  );
}

async function change(words: string): Promise<void> {
  await userEvent.click(screen.getByRole("button", { name: "Change the waiting prompt" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Waiting prompt" }), words);
}

test("words typed into a waiting prompt are in the composer when its turn begins, behind what was there", async () => {
  const view = render(page([waiting]), inApp({ http: UNSENT }));
  await userEvent.type(screen.getByRole("textbox", { name: "Prompt for guide" }), "a draft");
  await change(" the flowers");
  view.rerender(page([]));
  expect(field.current?.value).toBe("a draft\n\nweave the flowers");
  expect(screen.getByText(/What you typed is here\.$/).role).toBe("alert");
  await waitFor(() => expect(document.activeElement).toBe(field.current));
});

test("one that waits for somebody to sign in says so", () => {
  render(<QueuedPromptRow session="s" prompt={waiting} signedOut />, inApp({ http: UNSENT }));
  expect(screen.getByText("Waits until you have signed in")).toBeTruthy();
});

test("they are still in their field after it was out of sight, and after the page was loaded anew", async () => {
  const view = render(page([waiting]), inApp({ http: UNSENT }));
  await change(" the flowers");
  view.rerender(page([waiting], false));
  view.rerender(page([waiting]));
  expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Waiting prompt" }).value).toBe("weave the flowers");
  cleanup();
  render(page([]), inApp({ http: UNSENT }));
  expect(field.current?.value).toBe("weave the flowers");
});

test("a change that was saved, given up or is none is not in the composer", async () => {
  const http = { changePrompt: vi.fn(() => Promise.resolve({ ok: true, value: {} })) };
  const view = render(page([waiting]), inApp({ http: { ...http, ...UNSENT } }));
  await change(" the flowers");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await change(" the leaves{Escape}");
  await userEvent.click(screen.getByRole("button", { name: "Change the waiting prompt" }));
  view.rerender(page([]));
  expect(field.current?.value).toBe("");
});

test("a change that is refused because the turn has begun is in the composer", async () => {
  let refuse = (): void => undefined;
  const failure = { kind: "refused" as const, status: 409, code: "prompt_not_waiting", message: "it was sent" };
  const http = { changePrompt: vi.fn(() => new Promise((resolve) => (refuse = () => resolve({ ok: false, failure })))) };
  const view = render(page([waiting]), inApp({ http: { ...http, ...UNSENT } }));
  await change(" the flowers");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  view.rerender(page([]));
  expect(field.current?.value).toBe("");
  refuse();
  await waitFor(() => expect(field.current?.value).toBe("weave the flowers"));
});
