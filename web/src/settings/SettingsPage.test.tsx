// The pages of the settings: what each value says of itself, what can be done there, and what an agent's test shows.
import { act, cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { inApp } from "../app/inApp";
import { INITIAL_STATE } from "../state/app";
import type { Agent, AgentTrial, SessionRow, Setting, Settings, SignInLink, Token } from "../wire/names";
import type { SectionName } from "./sections";
import { valueWords } from "./sections";
import SettingsPage from "./SettingsPage";

const ok = <T,>(value: T) => Promise.resolve({ ok: true as const, value });

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
  localStorage.clear();
  delete document.documentElement.dataset["theme"];
});

const FILE = "/home/ada/.throughline/config.toml";

function setting(key: string, change: Partial<Setting> = {}): Setting {
  return { key, about: "What it is for.", value: "1", source: { type: "default" }, change: { text: "line = 1", place: { type: "end" } }, ...change };
}

const VALUES: Setting[] = [
  setting("server.listen", { value: '"127.0.0.1:1"', source: { type: "flag", name: "--listen" }, change: { text: 'listen = "127.0.0.1:1"', place: { type: "replace", line: 2 } } }),
  setting("server.hosts", { source: { type: "config", line: 3 }, change: { text: "hosts = []", place: { type: "replace", line: 3 } } }),
  setting("limits.agent_memory_mb", { value: null, change: { text: "[limits]\nagent_memory_mb = 4096", place: { type: "end" } } }),
  setting("limits.connections", { source: { type: "system", reason: "too few open files" }, change: { text: "connections = 1", place: { type: "below", line: 5 } } }),
  setting("limits.max_agents", { source: { type: "environment", name: "MAX_AGENTS" } }),
  setting("page.specs_label"),
  setting("--data-dir", { source: { type: "environment", name: "THROUGHLINE_HOME" }, change: { text: "throughline --data-dir FOLDER", place: { type: "terminal" } } }),
];

const GUIDE = { name: "guide", title: "Guide", description: "Built in.", installed: true, version: "0.1.0", install: null, signIn: null, notes: [] } as Agent;
const COPILOT = { ...GUIDE, name: "copilot", title: "Copilot", installed: false, version: null, install: "Run `npm install -g copilot`.", signIn: "Run `copilot login` once." } as Agent;
const PHONE = { id: "t1", kind: "browser", name: "phone", session: null, issuedAt: "2026-01-02T03:04:05.000Z" } as unknown as Token;

interface Stage {
  trial?: AgentTrial;
  link?: SignInLink;
}

function show(section: SectionName, { trial, link }: Stage = {}) {
  const settings: Settings = { file: FILE, hasFile: true, url: "http://127.0.0.1:1", localOnly: true, values: VALUES };
  let tokens = [PHONE];
  const http = {
    settings: vi.fn(() => ok(settings)),
    agents: () => ok({ agents: [GUIDE, COPILOT] }),
    testAgent: vi.fn((_: string) => ok(trial)),
    tokens: () => ok({ tokens, own: "t1" }),
    revokeToken: vi.fn((id: string) => {
      tokens = tokens.filter((token) => token.id !== id);
      return ok(undefined);
    }),
    signInLink: vi.fn((_: string) => ok(link)),
    remembered: () => ok({ permissions: [] }),
  };
  const row = { id: "s", agent: "guide", state: "idle", title: "Mend the loom", deletedAt: null, activeAt: "2026-01-01T00:00:00.000Z", meta: {} } as unknown as SessionRow;
  const list = { ...INITIAL_STATE.list, rows: new Map([["s", row]]), extent: { kind: "whole" } as const };
  render(<SettingsPage section={section} />, inApp({ http, state: { list } }));
  return http;
}

/** The row of a setting. */
async function settingRow(name: string) {
  const title = await screen.findByText(name, { selector: "code" });
  return within(title.closest("li") as HTMLElement);
}

test("each value says where it comes from", async () => {
  show("server");
  (await settingRow("listen")).getByText("Set by the flag --listen");
  (await settingRow("hosts")).getByText("config.toml, line 3");
  (await settingRow("agent_memory_mb")).getByText("Default value");
  (await settingRow("agent_memory_mb")).getByText("Not set");
  (await settingRow("connections")).getByText("Lowered: too few open files");
  (await settingRow("--data-dir")).getByText("Set by the variable THROUGHLINE_HOME");
  expect(screen.queryByText("specs_label")).toBeNull();
});

test("the settings open on what a person looks for first, and on nothing of the file", async () => {
  const http = show("general");
  expect(http.settings).toHaveBeenCalledOnce();
  // What the settings say is drawn from here on, if it is drawn at all.
  await act(async () => void (await http.settings.mock.results[0]?.value));
  screen.getByRole("radio", { name: /^Dark/ });
  screen.getByRole("heading", { name: "Notifications" });
  screen.getByRole("button", { name: "Add a phone" });
  screen.getByRole("link", { name: "See the agents" });
  expect(document.body.textContent).not.toContain("config.toml");
  expect(screen.getAllByRole("navigation").flatMap((nav) => [...nav.querySelectorAll("a")].map((link) => link.textContent))).toEqual([
    "General",
    "Agents",
    "Permissions",
    "Devices and tokens",
    "Sessions",
    "Server",
  ]);
});

test.each([
  [null, "Not set"],
  ["true", "Yes"],
  ["false", "No"],
  ["[]", "None"],
  ["2000.0", "2000"],
  ['"ask"', "ask"],
  ['"""\n# A\n"b"\n"""', '# A\n"b"'],
  ['"C:\\\\x"', '"C:\\\\x"'],
])("the value %s is shown in words", (value, words) => {
  expect(valueWords(value)).toBe(words);
});

test("what a setting is for comes before its name, and its table before the table's", async () => {
  show("server");
  const row = (await screen.findByText("hosts", { selector: "code" })).closest("li");
  expect(row?.textContent).toMatch(/^What it is for\.1hosts·config\.toml, line 3/);
  expect(screen.getByRole("heading", { name: "Where the server is reached" }).parentElement?.textContent).toBe("Where the server is reached[server]");
});

test.each([
  ["listen", `In place of line 2 of ${FILE}`, 'listen = "127.0.0.1:1"'],
  ["agent_memory_mb", `At the end of ${FILE}`, "[limits]\nagent_memory_mb = 4096"],
  ["connections", `Below line 5 of ${FILE}`, "connections = 1"],
  ["--data-dir", "In a terminal, when the server is started", "throughline --data-dir FOLDER"],
])("the line that changes %s is shown with its place, and copied as it is", async (name, place, text) => {
  show("server");
  const row = await settingRow(name);
  const user = userEvent.setup();
  await user.click(row.getByRole("button", { name: "How to change it" }));
  row.getByText(place);
  await user.click(row.getByRole("button", { name: `Copy the line for ${name}` }));
  expect(await navigator.clipboard.readText()).toBe(text);
});

test.each([
  ["listen", "The flag --listen comes before the file: start the server without it."],
  ["max_agents", "The variable MAX_AGENTS comes before the file: unset it, too."],
  ["hosts", null],
  ["--data-dir", null],
])("where the file alone would not change %s, that is said with its line", async (name, words) => {
  show("server");
  const row = await settingRow(name);
  await userEvent.click(row.getByRole("button", { name: "How to change it" }));
  expect(row.queryByText(/comes before the file/)?.textContent ?? null).toBe(words);
});

test("an agent that is not here says how to get it; one that is here is tested, and names its sessions", async () => {
  const http = show("agents", { trial: { program: "Guide 0.1.0", outcome: "ready", methods: [], reason: null } });
  const row = (title: string) => within(screen.getByRole("heading", { name: title }).closest("li") as HTMLElement);
  await screen.findByRole("heading", { name: "Copilot" });
  row("Copilot").getByRole("button", { name: "Copy npm install -g copilot" });
  row("Copilot").getByRole("button", { name: "Copy copilot login" });
  expect(row("Copilot").queryByRole("button", { name: "Test it: Copilot" })).toBeNull();
  row("Guide").getByRole("link", { name: "Mend the loom" });
  await userEvent.click(row("Guide").getByRole("button", { name: "Test it: Guide" }));
  await row("Guide").findByText(/^Guide 0.1.0 started, opened a session and was stopped again/);
  expect(http.testAgent).toHaveBeenCalledWith("guide");
});

test.each<[AgentTrial, RegExp]>([
  [{ program: null, outcome: "failed", methods: [], reason: "the agent ended (exit code 3)" }, /^The agent ended \(exit code 3\)\.$/],
  [{ program: "X 1", outcome: "signed_out", methods: [{ id: "a", name: "Log in", run: "x login" }], reason: null }, /^X 1 started, and wants you to sign in first/],
])("a test that shows %j is told in words", async (trial, words) => {
  show("agents", { trial });
  await userEvent.click(await screen.findByRole("button", { name: "Test it: Guide" }));
  await screen.findByText(words);
});

test("a credential is ended after a second press", async () => {
  const http = show("devices");
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Revoke phone" }));
  screen.getByText("This browser");
  expect(http.revokeToken).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Sign out phone for good" }));
  expect(http.revokeToken).toHaveBeenCalledWith("t1");
  await vi.waitFor(() => expect(screen.queryByText("phone")).toBeNull());
});

const LINK = { url: "https://box.example/#code=c", expiresAt: "2026-01-02T03:19:05.000Z", localOnly: false } as SignInLink;

test("a phone gets a code that it can follow", async () => {
  const http = show("devices", { link: { ...LINK, picture: { side: 29, path: "M4 4h7v1h-7z" } } });
  await userEvent.click(await screen.findByRole("button", { name: "Add a phone" }));
  const picture = await screen.findByRole("img", { name: "QR code with the sign-in link" });
  expect(picture.getAttribute("viewBox")).toBe("0 0 29 29");
  expect(picture.querySelector("path")?.getAttribute("d")).toBe("M4 4h7v1h-7z");
  expect(http.signInLink).toHaveBeenCalledWith("phone");
});

test("where no phone could follow a code, there is none, but the two steps that make it so", async () => {
  show("devices", { link: { ...LINK, url: "http://127.0.0.1:7001/#code=c", localOnly: true, picture: null } });
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Add a phone" }));
  await screen.findByText("tailscale serve --bg 7001");
  expect(screen.queryByRole("img")).toBeNull();
  expect(document.body.textContent).not.toContain("#code=");
  await user.click(screen.getByRole("button", { name: "Copy the lines for config.toml" }));
  expect(await navigator.clipboard.readText()).toContain("behind_proxy = true");
});

test("a theme holds at once and is kept in this browser", async () => {
  show("general");
  const theme = () => document.documentElement.dataset["theme"];
  await userEvent.click(screen.getByRole("radio", { name: /^Dark/ }));
  expect([theme(), localStorage.getItem("throughline.theme")]).toEqual(["dark", "dark"]);
  await userEvent.click(screen.getByRole("radio", { name: /^High contrast/ }));
  expect(theme()).toBe("contrast");
  await userEvent.click(screen.getByRole("radio", { name: /^System/ }));
  expect([theme(), localStorage.getItem("throughline.theme")]).toEqual([undefined, null]);
});

test("notifications are asked for when they are turned on, and not before", async () => {
  const requestPermission = vi.fn(() => Promise.resolve("denied"));
  vi.stubGlobal("Notification", { permission: "default", requestPermission });
  Object.defineProperty(navigator, "serviceWorker", { configurable: true, value: {} });
  show("general");
  expect(requestPermission).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("checkbox", { name: /^Notify me/ }));
  await screen.findByText(/^The browser does not allow it/);
  expect(localStorage.getItem("throughline.notifications")).toBeNull();
  requestPermission.mockResolvedValue("granted");
  vi.stubGlobal("Notification", { permission: "granted", requestPermission });
  await userEvent.click(screen.getByRole("checkbox", { name: /^Notify me/ }));
  await vi.waitFor(() => expect(localStorage.getItem("throughline.notifications")).toBe("on"));
  await userEvent.click(await screen.findByRole("checkbox", { name: /^Show the session/ }));
  await vi.waitFor(() => expect(localStorage.getItem("throughline.notifications")).toBe("titles"));
});

test("the question whether to sign a device out has the focus on the way back, which leads back", async () => {
  show("devices");
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "Revoke phone" }));
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Keep" }));
  await user.keyboard("{Enter}");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Revoke phone" }));
  await user.keyboard("{Enter}");
  await user.click(screen.getByRole("button", { name: "Sign out phone for good" }));
  expect(document.activeElement).toBe(screen.getByRole("list", { name: "Devices and programs" }));
});
