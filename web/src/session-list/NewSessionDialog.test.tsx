// The form for a new session: what it sends, and how it tells what the server objects to.
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer } from "../api/http";
import type { App } from "../state/app";
import type { NewSession } from "../wire/names";
import { NewSessionDialog } from "./NewSessionDialog";

type Created = Answer<{ id: string }>;

function open(answers: Created[], directory: string | null | Promise<string> = null) {
  const wishes: NewSession[] = [];
  const http = {
    whoami: async () => ({ ok: true, value: { directory: await directory } }),
    agents: () => Promise.resolve({ ok: true, value: { agents: [{ name: "guide", title: "Guide", description: "Built in." }] } }),
    createSession: (wish: NewSession) => {
      wishes.push(wish);
      return Promise.resolve(answers.shift() ?? { ok: true, value: { id: "new" } });
    },
  };
  const onCreated = vi.fn();
  const onClose = vi.fn();
  render(<NewSessionDialog app={{ http } as unknown as App} onClose={onClose} onCreated={onCreated} />);
  return { wishes, onCreated, onClose };
}

const refused = (code: string, message: string): Created => ({ ok: false, failure: { kind: "refused", status: 409, code, message } });

/** A directory that the server tells when it is told to. */
function later(): [Promise<string>, (directory: string) => Promise<string>] {
  let resolve: (directory: string) => void;
  const told = new Promise<string>((done) => (resolve = done));
  return [
    told,
    (directory) => {
      resolve(directory);
      return told;
    },
  ];
}

/** The directory's field, which has the focus, before anything is in it. */
async function emptyField(): Promise<HTMLInputElement> {
  await screen.findByText("Built in.");
  const field = screen.getByLabelText<HTMLInputElement>("Directory");
  expect(document.activeElement).toBe(field);
  expect(field.value).toBe("");
  return field;
}

beforeEach(() => {
  localStorage.clear();
});

afterEach(cleanup);

test("it asks for the session with the first agent and remembers the directory", async () => {
  const { wishes, onCreated } = open([]);
  await screen.findByText("Built in.");
  await userEvent.type(screen.getByLabelText("Directory"), "/home/ada ");
  await userEvent.click(screen.getByRole("button", { name: "Start session" }));
  await waitFor(() => expect(onCreated).toHaveBeenCalledExactlyOnceWith("new"));
  expect(wishes).toEqual([{ agent: "guide", cwd: "/home/ada", name: null, confirm: false, key: expect.any(String) as string }]);
  cleanup();
  open([]);
  expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/home/ada");
});

test("the first session is offered where the server was started, a later one where the last was", async () => {
  open([], "/srv/work");
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/srv/work"));
  await userEvent.click(screen.getByRole("button", { name: "Start session" }));
  cleanup();
  localStorage.setItem("throughline.lastDirectory", "/home/ada");
  open([], "/srv/work");
  await screen.findByText("Built in.");
  expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/home/ada");
});

test("what is written in place of a directory that was offered late is all that is sent", async () => {
  const [directory, offer] = later();
  const { wishes } = open([], directory);
  const field = await emptyField();
  offer("/srv/work");
  await waitFor(() => expect(field.value).toBe("/srv/work"));
  await userEvent.keyboard("/home{Enter}");
  await waitFor(() => expect(wishes.map(({ cwd }) => cwd)).toEqual(["/home"]));
});

test("an offer that comes after the first letter is not taken up", async () => {
  const [directory, offer] = later();
  const { wishes } = open([], directory);
  await emptyField();
  await userEvent.keyboard("/ho");
  await act(() => offer("/srv/work"));
  await userEvent.keyboard("me{Enter}");
  await waitFor(() => expect(wishes.map(({ cwd }) => cwd)).toEqual(["/home"]));
});

test("an offer that comes late leaves the focus where it is", async () => {
  const [directory, offer] = later();
  open([], directory);
  const field = await emptyField();
  const name = screen.getByLabelText(/^Name/);
  await userEvent.click(name);
  offer("/srv/work");
  await waitFor(() => expect(field.value).toBe("/srv/work"));
  expect(document.activeElement).toBe(name);
});

test("an objection is said in words, and the corrected wish has another key", async () => {
  const { wishes } = open([refused("directory_not_found", "there is no such directory")]);
  await screen.findByText("Built in.");
  await userEvent.type(screen.getByLabelText("Directory"), "/nowhere{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("There is no such directory.");
  await userEvent.type(screen.getByLabelText("Directory"), "/else{Enter}");
  await waitFor(() => expect(wishes).toHaveLength(2));
  expect(wishes[0]?.key).not.toBe(wishes[1]?.key);
});

test("the same wish after no answer has the same key", async () => {
  const { wishes } = open([{ ok: false, failure: { kind: "unreachable" } }]);
  await screen.findByText("Built in.");
  await userEvent.type(screen.getByLabelText("Directory"), "/home/ada{Enter}");
  await screen.findByRole("alert");
  await userEvent.click(screen.getByRole("button", { name: "Start session" }));
  await waitFor(() => expect(wishes).toHaveLength(2));
  expect(wishes[0]).toEqual(wishes[1]);
});

test("a far-reaching directory is confirmed before it is used", async () => {
  const { wishes, onCreated } = open([refused("confirm_required", "an agent in / reaches everything")]);
  await screen.findByText("Built in.");
  await userEvent.type(screen.getByLabelText("Directory"), "/{Enter}");
  await userEvent.click(await screen.findByRole("button", { name: "Start there anyway" }));
  await waitFor(() => expect(onCreated).toHaveBeenCalledOnce());
  expect(wishes.map(({ confirm }) => confirm)).toEqual([false, true]);
});
