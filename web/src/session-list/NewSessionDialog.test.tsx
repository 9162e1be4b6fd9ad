// The form for a new session: what it sends, and how it tells what the server objects to.
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer } from "../api/http";
import { inApp } from "../app/inApp";
import type { Agent, DirectoryPage, NewSession } from "../wire/names";
import { NewSessionDialog } from "./NewSessionDialog";

type Created = Answer<{ id: string }>;

const GUIDE: Agent = { name: "guide", title: "Guide", description: "Built in.", installed: true, notes: [] };

interface Given {
  directory?: string | null | Promise<string>;
  agents?: Agent[];
  /** Those that are found at once; the others come when `whole` is resolved. */
  soFar?: Agent[];
  whole?: Promise<unknown>;
  directories?: (prefix: string) => DirectoryPage;
  wanted?: string;
}

function open(answers: (Created | Promise<Created>)[], { directory = null, agents = [GUIDE], soFar = agents, whole, directories, wanted }: Given = {}) {
  const wishes: NewSession[] = [];
  const asked: string[] = [];
  const http = {
    whoami: async () => ({ ok: true, value: { directory: await directory } }),
    agents: async (query?: { soFar: boolean }) => {
      if (query?.soFar !== true) {
        await whole;
      }
      return { ok: true, value: { agents: query?.soFar === true ? soFar : agents } };
    },
    directories: (prefix: string) => {
      asked.push(prefix);
      return Promise.resolve({ ok: true, value: directories?.(prefix) ?? { directories: [], recent: [] } });
    },
    createSession: (wish: NewSession) => {
      wishes.push(wish);
      return Promise.resolve(answers.shift() ?? { ok: true, value: { id: "new" } });
    },
  };
  const onCreated = vi.fn();
  const onClose = vi.fn();
  const { unmount } = render(<NewSessionDialog directory={wanted ?? null} onClose={onClose} onCreated={onCreated} />, inApp({ http }));
  return { wishes, asked, onCreated, onClose, unmount };
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
  open([], { directory: "/srv/work" });
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/srv/work"));
  await userEvent.click(screen.getByRole("button", { name: "Start session" }));
  cleanup();
  localStorage.setItem("throughline.lastDirectory", "/home/ada");
  open([], { directory: "/srv/work" });
  await screen.findByText("Built in.");
  expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/home/ada");
});

test("what is written in place of a directory that was offered late is all that is sent", async () => {
  const [directory, offer] = later();
  const { wishes } = open([], { directory });
  const field = await emptyField();
  offer("/srv/work");
  await waitFor(() => expect(field.value).toBe("/srv/work"));
  await userEvent.keyboard("/home{Enter}");
  await waitFor(() => expect(wishes.map(({ cwd }) => cwd)).toEqual(["/home"]));
});

test("an offer that comes after the first letter is not taken up", async () => {
  const [directory, offer] = later();
  const { wishes } = open([], { directory });
  await emptyField();
  await userEvent.keyboard("/ho");
  await act(() => offer("/srv/work"));
  await userEvent.keyboard("me{Enter}");
  await waitFor(() => expect(wishes.map(({ cwd }) => cwd)).toEqual(["/home"]));
});

test("an offer that comes late leaves the focus where it is", async () => {
  const [directory, offer] = later();
  open([], { directory });
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

test("a yes to one directory does not hold for another", async () => {
  const { wishes } = open([refused("confirm_required", "an agent in / reaches everything")]);
  await screen.findByText("Built in.");
  await userEvent.type(screen.getByLabelText("Directory"), "/{Enter}");
  await screen.findByRole("button", { name: "Start there anyway" });
  await userEvent.type(screen.getByLabelText("Directory"), "home");
  expect(screen.queryByRole("button", { name: "Start there anyway" })).toBeNull();
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(wishes.map(({ cwd, confirm }) => [cwd, confirm])).toEqual([["/", false], ["/home", false]]));
});

const CLAUDE: Agent = { name: "claude", title: "Claude Code", description: "Codes.", installed: true, version: "claude 2.1", notes: [] };
const CODEX: Agent = { name: "codex", title: "Codex", description: "Codes too.", installed: false, install: "Run `npm install -g codex`.", notes: [] };

test("installed agents can be chosen, the last one is offered again, others say how to get them", async () => {
  const { wishes } = open([], { agents: [CLAUDE, GUIDE, CODEX] });
  const guide = await screen.findByRole<HTMLInputElement>("radio", { name: /Guide/ });
  expect(screen.getByRole<HTMLInputElement>("radio", { name: /Claude Code.*2\.1/ }).checked).toBe(true);
  expect(screen.queryByRole("radio", { name: /Codex/ })).toBeNull();
  expect(screen.getByText("Not installed (1)")).toBeTruthy();
  expect(screen.getByText("npm install -g codex").tagName).toBe("CODE");
  await userEvent.click(guide);
  await userEvent.type(screen.getByLabelText("Directory"), "/home/ada{Enter}");
  await waitFor(() => expect(wishes.map(({ agent }) => agent)).toEqual(["guide"]));
  cleanup();
  open([], { agents: [CLAUDE, GUIDE] });
  expect((await screen.findByRole<HTMLInputElement>("radio", { name: /Guide/ })).checked).toBe(true);
});

/** Two agents at once, a third one a while later. */
function openWhileLooking() {
  let find = (): void => undefined;
  const whole = new Promise<void>((resolve) => (find = resolve));
  const opened = open([], { soFar: [CLAUDE, GUIDE, CODEX], agents: [{ ...CODEX, installed: true }, CLAUDE, GUIDE, { ...CODEX, name: "goose", title: "goose" }], whole });
  const radios = () => screen.getAllByRole<HTMLInputElement>("radio").map(({ value, checked }) => `${value}${checked ? "*" : ""}`).join(" ");
  return { ...opened, radios, find: () => act(async () => find()) };
}

test("agents that are found late come after those that are shown, and what was chosen stays chosen", async () => {
  localStorage.setItem("throughline.lastAgent", "codex");
  const { radios, find } = openWhileLooking();
  await screen.findByText(/^Looking for more agents…/);
  expect(radios()).toBe("claude guide");
  expect(screen.queryByText(/^Not installed/)).toBeNull();
  await userEvent.click(screen.getByRole("radio", { name: /Guide/ }));
  await find();
  expect(radios()).toBe("claude guide* codex");
  expect(screen.queryByText(/^Looking for more agents…/)).toBeNull();
  expect(screen.getByText("Not installed (1)")).toBeTruthy();
});

test("the last agent that was used is chosen once it is found, if none was chosen", async () => {
  localStorage.setItem("throughline.lastAgent", "codex");
  const { radios, find } = openWhileLooking();
  await screen.findByText(/^Looking for more agents…/);
  await find();
  expect(radios()).toBe("claude guide codex*");
});

test("how to get an agent is copied as it stands", async () => {
  const user = userEvent.setup();
  open([], { agents: [GUIDE, CODEX] });
  await user.click(await screen.findByText("Not installed (1)"));
  await user.click(screen.getByRole("button", { name: "Copy npm install -g codex" }));
  expect(await navigator.clipboard.readText()).toBe("npm install -g codex");
});

test("whoever starts as the last time does not wait until the agents are found", async () => {
  localStorage.setItem("throughline.lastAgent", "loom");
  localStorage.setItem("throughline.lastDirectory", "/home/ada");
  const { wishes } = open([], { whole: new Promise(() => undefined) });
  expect(screen.getByText(/Without another choice it is loom, as last time\.$/)).toBeTruthy();
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(wishes).toMatchObject([{ agent: "loom", cwd: "/home/ada" }]));
});

test("the directory that the page was opened for goes before the last one", async () => {
  localStorage.setItem("throughline.lastDirectory", "/home/ada");
  open([], { wanted: "/srv/wanted", directory: "/srv/work" });
  await screen.findByText("Built in.");
  expect(screen.getByLabelText<HTMLInputElement>("Directory").value).toBe("/srv/wanted");
});

/** Two directories in /srv; one of them with another inside. */
function tree(prefix: string): DirectoryPage {
  const paths = ["/srv/alpha", "/srv/alpha/core", "/srv/beta"];
  const depth = prefix.split("/").length;
  return {
    directories: paths
      .filter((path) => path.startsWith(prefix) && path.split("/").length === depth)
      .map((path) => ({ path, isProject: path === "/srv/alpha" })),
    recent: [{ path: "/home/ada/site", project: "/home/ada/site", agent: "guide", activeAt: "2026-01-01T00:00:00.000Z" }],
  };
}

test("arrows choose a directory, Enter goes into it, and a second Enter starts there", async () => {
  const { wishes } = open([], { directories: tree });
  const field = await emptyField();
  await userEvent.keyboard("/srv/");
  await screen.findByRole("option", { name: /\/srv\/alpha.*project/ });
  expect(field.getAttribute("aria-activedescendant")).toBeNull();
  await userEvent.keyboard("{ArrowDown}");
  const chosen = screen.getByRole("option", { selected: true });
  expect(field.getAttribute("aria-activedescendant")).toBe(chosen.id);
  await userEvent.keyboard("{Enter}");
  expect(field.value).toBe("/srv/alpha/");
  await screen.findByRole("option", { name: "/srv/alpha/core" });
  expect(wishes).toEqual([]);
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(wishes.map(({ cwd }) => cwd)).toEqual(["/srv/alpha"]));
});

test("Tab completes half a name, and from a whole one goes on", async () => {
  open([], { directories: tree });
  const field = await emptyField();
  await userEvent.keyboard("/srv/b");
  await screen.findByRole("option", { name: "/srv/beta" });
  await userEvent.tab();
  expect(field.value).toBe("/srv/beta/");
  expect(document.activeElement).toBe(field);
  await userEvent.tab();
  expect(document.activeElement).not.toBe(field);
  expect(field.value).toBe("/srv/beta/");
});

test("Escape closes the list and leaves the dialog and the words alone", async () => {
  const { onClose } = open([], { directories: tree });
  const field = await emptyField();
  await userEvent.keyboard("/srv/");
  await screen.findByRole("listbox");
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(field.value).toBe("/srv/");
  expect(onClose).not.toHaveBeenCalled();
});

test("an empty field offers where sessions were; a click takes one", async () => {
  const { asked } = open([], { directories: tree });
  const field = await emptyField();
  await userEvent.keyboard("{ArrowDown}");
  await userEvent.click(await screen.findByRole("option", { name: "/home/ada/site" }));
  expect(field.value).toBe("/home/ada/site");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(asked).toEqual([""]);
});

test("hidden characters in names are seen", async () => {
  open([], { directories: () => ({ directories: [{ path: "/srv/\u202Egpj.exe\u001b[31m", isProject: false }], recent: [] }) });
  await emptyField();
  await userEvent.keyboard("/srv/");
  expect((await screen.findByRole("option")).textContent).toBe("/srv/⟨U+202E⟩gpj.exe␛[31m");
});

test("whoever closed the form before the session began is not led to it", async () => {
  let answer: ((created: Created) => void) | undefined;
  const { wishes, onCreated, unmount } = open([new Promise<Created>((resolve) => (answer = resolve))], { wanted: "/w" });
  await screen.findByText("Built in.");
  await userEvent.click(screen.getByRole("button", { name: "Start session" }));
  expect(wishes).toHaveLength(1);
  unmount();
  await act(async () => answer?.({ ok: true, value: { id: "new" } }));
  expect(onCreated).not.toHaveBeenCalled();
});
