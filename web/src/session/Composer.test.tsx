// The composer: keys, drafts, and that no words are lost or sent twice.
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer, Http } from "../api/http";
import type { NewPrompt } from "../wire/names";
import { Composer } from "./Composer";

type Accepted = Answer<{ interactionId: string; turn: number | null }>;

const accepted: Accepted = { ok: true, value: { interactionId: "i", turn: 1 } };
const unreachable: Accepted = { ok: false, failure: { kind: "unreachable" } };

function open(answers: Accepted[], props: Partial<Parameters<typeof Composer>[0]> = {}) {
  const sent: NewPrompt[] = [];
  const http = {
    sendPrompt: vi.fn((_session: string, prompt: NewPrompt) => {
      sent.push(prompt);
      return Promise.resolve(answers.shift() ?? accepted);
    }),
    cancel: vi.fn(() => Promise.resolve({ ok: true, value: undefined })),
  } as unknown as Http;
  const onSent = vi.fn();
  const element = (more: Partial<Parameters<typeof Composer>[0]> = {}) => (
    <Composer
      key={more.session ?? props.session ?? "one"}
      http={http}
      session="one"
      agent="guide"
      running={false}
      online
      field={createRef()}
      onSent={onSent}
      {...props}
      {...more}
    />
  );
  const view = render(element());
  const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Prompt for guide" });
  return { http, sent, onSent, field, show: (more: Partial<Parameters<typeof Composer>[0]>) => view.rerender(element(more)) };
}

beforeEach(() => {
  localStorage.clear();
});

afterEach(cleanup);

test("Enter sends, Shift+Enter makes a line, and the field is empty once the server keeps the words", async () => {
  const { sent, field, onSent } = open([]);
  await userEvent.type(field(), "first{Shift>}{Enter}{/Shift}second{Enter}");
  await waitFor(() => expect(onSent).toHaveBeenCalledOnce());
  expect(sent).toEqual([{ text: "first\nsecond", whenBusy: "queue", key: expect.any(String) as string }]);
  expect(field().value).toBe("");
  expect(localStorage.length).toBe(0);
});

test("blank words are not sent", async () => {
  const { sent, field } = open([]);
  await userEvent.type(field(), "  {Enter}");
  expect(sent).toEqual([]);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Send" }).disabled).toBe(true);
});

test("a draft belongs to its session and is there again", async () => {
  const { field, show } = open([]);
  await userEvent.type(field(), "for one");
  show({ session: "two" });
  expect(field().value).toBe("");
  await userEvent.type(field(), "for two");
  show({ session: "one" });
  expect(field().value).toBe("for one");
});

test("a prompt that got no answer is sent again under the same key when the connection is back", async () => {
  const { sent, field, show, onSent } = open([unreachable], { online: false });
  await userEvent.type(field(), "hello{Enter}");
  await screen.findByText(/Not sent yet/);
  expect(field().value).toBe("hello");
  show({ online: true });
  await waitFor(() => expect(onSent).toHaveBeenCalledOnce());
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual(sent[0]);
});

test("even after a reload the same words go out under the same key; changed words are another prompt", async () => {
  const first = open([unreachable], { online: false });
  await userEvent.type(first.field(), "hello{Enter}");
  await screen.findByText(/Not sent yet/);
  cleanup();
  const second = open([unreachable], { online: false });
  await userEvent.type(second.field(), "{Enter}");
  await screen.findByText(/Not sent yet/);
  expect(second.sent[0]?.key).toBe(first.sent[0]?.key);
  await userEvent.type(second.field(), " there{Enter}");
  await waitFor(() => expect(second.sent).toHaveLength(2));
  expect(second.sent[1]?.key).not.toBe(first.sent[0]?.key);
});

test("a refusal is said in words and the prompt stays", async () => {
  const refused: Accepted = { ok: false, failure: { kind: "refused", status: 409, code: "queue_full", message: "50 prompts are waiting already" } };
  const { field } = open([refused]);
  await userEvent.type(field(), "one more{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("50 prompts are waiting already.");
  expect(field().value).toBe("one more");
});

test("while a turn runs it can be stopped, and prompts wait", async () => {
  const { http, sent, field } = open([], { running: true });
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(http.cancel).toHaveBeenCalledExactlyOnceWith("one");
  await userEvent.type(field(), "then this");
  await userEvent.click(screen.getByRole("button", { name: "Send when this turn ends" }));
  await waitFor(() => expect(sent).toHaveLength(1));
});

test("Escape leaves the field", async () => {
  const { field } = open([]);
  await userEvent.type(field(), "words{Escape}");
  expect(document.activeElement).not.toBe(field());
  expect(field().value).toBe("words");
});
