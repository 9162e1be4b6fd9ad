// A fork: what is asked of the server, once, and what the two sessions say of each other.
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { SessionRow } from "../../wire/names";
import type { ForkWish } from "./ForkContext";
import { ForkDialog } from "./ForkDialog";
import { ForkedFrom } from "./ForkedFrom";
import { ForkedInto } from "./ForkedInto";

const row = { id: "s", agent: "guide" } as SessionRow;
const wish: ForkWish = { after: 6, edits: null, text: "", images: [] };
const agents = [
  { name: "guide", title: "Guide", installed: true },
  { name: "codex", title: "Codex", installed: true },
  { name: "gemini", title: "Gemini", installed: false },
];
const refused = { ok: false, failure: { kind: "refused", status: 409, code: "turn_running", message: "t6 is still running" } };

function show(change: Partial<ForkWish> = {}, answers: object[] = []) {
  const http = {
    agents: () => Promise.resolve({ ok: true, value: { agents } }),
    fork: vi.fn((_: string, __: object) => Promise.resolve(answers.shift() ?? { ok: true, value: { id: "begun" } })),
  };
  const onClose = vi.fn();
  const view = render(<ForkDialog row={row} wish={{ ...wish, ...change }} onClose={onClose} />, inApp({ http }));
  return { http, onClose, view };
}

// The test's browser knows no modal dialogs.
beforeAll(() => {
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
});
afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/");
});

test("a turn is forked without a prompt, and the new session is gone to", async () => {
  const { http, onClose } = show();
  await userEvent.click(screen.getByRole("button", { name: "Fork" }));
  expect(http.fork).toHaveBeenCalledExactlyOnceWith("s", { turn: 6, key: expect.any(String) as string });
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(location.pathname).toBe("/s/begun");
});

test("an earlier prompt is changed and sent with its pictures, to another agent if that is chosen", async () => {
  const images = [{ mimeType: "image/png", data: "AAAA" }];
  const { http } = show({ edits: 7, text: "say seven", images });
  await screen.findByRole("option", { name: "Codex" });
  expect(screen.queryByRole("option", { name: "Gemini" })).toBeNull();
  await userEvent.type(screen.getByRole("textbox"), ", slowly");
  await userEvent.selectOptions(screen.getByRole("combobox"), "codex");
  await userEvent.click(screen.getByRole("button", { name: "Fork and send" }));
  expect(http.fork).toHaveBeenCalledExactlyOnceWith("s", { turn: 6, agent: "codex", prompt: "say seven, slowly", images, key: expect.any(String) as string });
});

test("a prompt that is edited away is not sent", async () => {
  const { http } = show({ edits: 7, text: "x" });
  await userEvent.clear(screen.getByRole("textbox"));
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Fork" }).disabled).toBe(true);
  expect(http.fork).not.toHaveBeenCalled();
});

test("what got no answer is asked for under the same key, what was refused under another", async () => {
  const { http, onClose } = show({}, [{ ok: false, failure: { kind: "unreachable" } }, refused]);
  const press = () => userEvent.click(screen.getByRole("button", { name: "Fork" }));
  await press();
  await screen.findByText("The server did not answer.");
  await press();
  await screen.findByText("T6 is still running.");
  await press();
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  const keys = http.fork.mock.calls.map(([, body]) => (body as { key: string }).key);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[1]).not.toBe(keys[2]);
});

test("whoever closed the dialog before the answer came stays where they are", async () => {
  let answer: ((value: object) => void) | undefined;
  const { http, view } = show({}, [new Promise((resolve) => (answer = resolve))]);
  await userEvent.click(screen.getByRole("button", { name: "Fork" }));
  expect(http.fork).toHaveBeenCalledOnce();
  view.unmount();
  await act(async () => answer?.({ ok: true, value: { id: "begun" } }));
  expect(location.pathname).toBe("/");
});

test("each of the two says where the other is", async () => {
  const known = { readSession: (id: string) => Promise.resolve({ ok: true, value: { id, title: `session ${id}`, meta: { name: "" } } }) };
  render(
    <>
      <ForkedFrom session="a" turn={7} />
      <ForkedInto forks={[{ after: 9, turn: 7, session: "b" }]} last broken={false} />
    </>,
    inApp({ http: known }),
  );
  expect((await screen.findByRole("link", { name: "turn 7 of session a" })).getAttribute("href")).toBe("/s/a#t7");
  expect((await screen.findByRole("link", { name: "session b" })).getAttribute("href")).toBe("/s/b");
  expect(screen.getByRole("note").textContent).toBe("Forked from turn 7 into session b");
});
