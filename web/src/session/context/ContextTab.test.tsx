// The footer, the panel and the viewer: what is asked of the server, and the words for what it says.
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer, Http } from "../../api/http";
import { inApp } from "../../app/inApp";
import type { SessionContext } from "../../state/context";
import type { Changed, SessionRow, SetContext, StoredFile } from "../../wire/names";
import { ContextFooter } from "./ContextFooter";
import { ContextTab } from "./ContextTab";
import { FileViewer } from "./FileViewer";

const AT = "2026-01-02T03:04:05.006Z";
const row: SessionRow = {
  id: "s",
  agent: "guide",
  cwd: "/w",
  project: "/w",
  state: "idle",
  title: "Mend the loom",
  turns: 1,
  unobserved: false,
  createdAt: AT,
  activeAt: AT,
  meta: { context: {}, name: "", envHint: "use nix" },
  facts: {} as never,
};
const done: Answer<Changed> = { ok: true, value: { success: true } };
const context: SessionContext = {
  sets: { files: ["/w/<b>a</b>.md"], tickets: ["A-1"] },
  proofs: {
    filesCreated: { count: 1, values: [{ value: "/w/notes.md", turn: 12, tool: 3, entry: 40 }] },
    commands: { count: 130, values: [{ value: "cargo test", turn: 12, tool: 4, entry: 44, exitCode: 101 }] },
  },
};

function server(answers: { change?: Answer<Changed>[]; file?: Answer<StoredFile>[] } = {}) {
  const wishes: SetContext[] = [];
  const read: [string, boolean][] = [];
  const http = {
    setContext: vi.fn((_: string, wish: SetContext) => {
      wishes.push(wish);
      return Promise.resolve(answers.change?.shift() ?? done);
    }),
    setEnvHint: vi.fn(() => Promise.resolve(done)),
    resumePacket: vi.fn(() => Promise.resolve({ ok: true, value: { text: "[Session resumed.]", characters: 1234, tokens: 309 } })),
    readFile: vi.fn((_: string, path: string, confirm: boolean) => {
      read.push([path, confirm]);
      return Promise.resolve(answers.file?.shift());
    }),
  } as unknown as Http;
  return { http, wishes, read };
}

function refused(code: string, message: string): Answer<never> {
  return { ok: false, failure: { kind: "refused", status: 409, code, message } };
}

beforeEach(() => {
  localStorage.clear();
});

afterEach(cleanup);

test("the footer shows names, says paths, and markup stays text", async () => {
  const { http } = server();
  const onOpenFile = vi.fn();
  const { container } = render(<ContextFooter row={row} context={context} writable onOpenFile={onOpenFile} onOpenPanel={vi.fn()} />, inApp({ http }));
  const marked = screen.getByRole("link", { name: "/w/<b>a</b>.md" });
  expect(marked.getAttribute("title")).toBe("/w/<b>a</b>.md");
  expect(container.querySelector("b")).toBeNull();
  const automatic = screen.getByRole("link", { name: "/w/notes.md, edited by the agent, not pinned" });
  expect(automatic.textContent).toBe("notes.md");
  expect(automatic.getAttribute("href")).toBe("/s/s?applet=text-editor&path=%2Fw%2Fnotes.md");
  await userEvent.click(automatic);
  expect(location.search).toBe("?applet=text-editor&path=%2Fw%2Fnotes.md");
  expect(onOpenFile).not.toHaveBeenCalled();
  history.replaceState(null, "", "/");
});

test("a file outside of the session's directory is shown by the page itself, which asks first", async () => {
  const { http } = server();
  const onOpenFile = vi.fn();
  const sets = { files: ["/etc/hosts", "/w/../x"] };
  render(<ContextFooter row={row} context={{ ...context, sets }} writable onOpenFile={onOpenFile} onOpenPanel={vi.fn()} />, inApp({ http }));
  const outside = screen.getByRole("link", { name: "/etc/hosts" });
  expect(outside.getAttribute("href")).toBe("/s/s?file=%2Fetc%2Fhosts");
  await userEvent.click(outside);
  expect(onOpenFile).toHaveBeenCalledWith("/etc/hosts");
  expect(screen.getByRole("link", { name: "/w/../x" }).getAttribute("href")).toBe("/s/s?file=%2Fw%2F..%2Fx");
});

test("a dot stands between any two of the footer, and the applet that was open last is a link to it", () => {
  const { http } = server();
  const sets = { files: ["/w/a.md", "/w/b.md"], applet: ["git-diff", "path=a b"] };
  const { container } = render(<ContextFooter row={row} context={{ ...context, sets }} writable={false} onOpenFile={vi.fn()} onOpenPanel={vi.fn()} />, inApp({ http }));
  expect(container.textContent).toBe("a.md·b.md·notes.md·[git-diff]");
  expect(screen.getByRole("link", { name: /git-diff/ }).getAttribute("href")).toBe("/s/s?applet=git-diff&path=a+b");
});

test("one click marks what is automatic, and nothing changes before the server says so", async () => {
  const { http, wishes } = server();
  render(<ContextFooter row={row} context={context} writable onOpenFile={vi.fn()} onOpenPanel={vi.fn()} />, inApp({ http }));
  await userEvent.click(screen.getByRole("button", { name: "Pin it" }));
  expect(wishes).toEqual([{ setName: "files", items: ["/w/notes.md"], mode: "merge" }]);
  expect(screen.getByRole("link", { name: /not pinned/ })).toBeTruthy();
});

test("a footer without anything to show is not there, nor one of which nothing is known", () => {
  const { http } = server();
  const rest = { row, writable: true, onOpenFile: vi.fn(), onOpenPanel: vi.fn() };
  const { container, rerender } = render(<ContextFooter {...rest} context={null} />, inApp({ http }));
  expect(container.textContent).toBe("");
  rerender(<ContextFooter {...rest} context={{ sets: { ports: ["1"] }, proofs: {} }} />);
  expect(container.textContent).toBe("");
});

function openPanel(answers: Parameters<typeof server>[0] = {}, writable = true) {
  const given = server(answers);
  const onClose = vi.fn();
  render(<ContextTab row={row} context={context} writable={writable} onOpenFile={vi.fn()} onJump={onClose} />, inApp({ http: given.http }));
  return { ...given, onClose };
}

test("marks are added and taken away by wishes", async () => {
  const { wishes } = openPanel();
  const files = within(screen.getByRole("group", { name: "Pinned files" }));
  await userEvent.type(files.getByRole("textbox", { name: "Add to files" }), " /w/b.md {Enter}");
  await waitFor(() => expect(files.getByRole<HTMLInputElement>("textbox").value).toBe(""));
  await userEvent.click(files.getByRole("button", { name: "Remove /w/<b>a</b>.md from files" }));
  expect(wishes).toEqual([
    { setName: "files", items: ["/w/b.md"], mode: "merge" },
    { setName: "files", items: ["/w/<b>a</b>.md"], mode: "remove" },
  ]);
});

test("what found no room, what was refused and what is odd is said in words, and what was written stays", async () => {
  const change = { set: "files", items: [], outcome: "unchanged", leftOut: ["/w/k"], warnings: ["no room"] } as const;
  const odd = { set: "tickets", items: [], outcome: "merged", leftOut: [], warnings: ["the set \"tickets\" has no meaning here"] } as const;
  openPanel({
    change: [
      { ok: true, value: { success: true, sets: [{ ...change, items: [], leftOut: ["/w/k"], warnings: ["no room"] }] } },
      refused("context_full", "the sets would have 51 items together, at most 50 are kept; remove some first"),
      { ok: true, value: { success: true, sets: [{ ...odd, items: [], leftOut: [], warnings: [...odd.warnings] }] } },
    ],
  });
  const field = screen.getByRole<HTMLInputElement>("textbox", { name: "Add to files" });
  await userEvent.type(field, "/w/k{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("“files” holds ten, which is all there is room for. Left out: /w/k. Remove one first.");
  expect(field.value).toBe("/w/k");
  await userEvent.type(field, "{Enter}");
  await screen.findByText("The sets would have 51 items together, at most 50 are kept; remove some first.");
  await userEvent.type(screen.getByRole("textbox", { name: "Add to tickets" }), "A-2{Enter}");
  await screen.findByText('The set "tickets" has no meaning here.');
});

function warned(items: string[], warnings: string[], set = "files"): Answer<Changed> {
  return { ok: true, value: { success: true, sets: [{ set, items, outcome: "merged", leftOut: [], warnings }] } };
}

const RELATIVE = '"README.md" is no absolute path; it is looked for below the session\'s directory';

test("a warning is no alarm, and goes with the next change, wherever that is made", async () => {
  openPanel({
    change: [
      warned(["/w/a.md", "README.md"], [RELATIVE]),
      warned(["/w/a.md", "README.md", "/w/b.md"], [RELATIVE]),
      warned(["README.md"], [RELATIVE]),
      done,
    ],
  });
  const field = screen.getByRole("textbox", { name: "Add to files" });
  await userEvent.type(field, "README.md{Enter}");
  await screen.findByText(/"README.md" is no absolute path/);
  expect(screen.queryByRole("alert")).toBeNull();
  await userEvent.type(field, "/w/b.md{Enter}");
  await waitFor(() => expect(screen.queryByText(/no absolute path/)).toBeNull());
  await userEvent.type(field, "README.md{Enter}");
  await screen.findByText(/"README.md" is no absolute path/);
  await userEvent.click(screen.getByRole("button", { name: "Remove A-1 from tickets" }));
  await waitFor(() => expect(screen.queryByText(/no absolute path/)).toBeNull());
});

test("the footer says only what went wrong with its own change, until the marks change", async () => {
  const { http } = server({ change: [warned(["README.md", "/w/notes.md"], [RELATIVE]), refused("context_full", "there is no room")] });
  const rest = { row, writable: true, onOpenFile: vi.fn(), onOpenPanel: vi.fn() };
  const { rerender } = render(<ContextFooter {...rest} context={context} />, inApp({ http }));
  const mark = screen.getByRole("button", { name: "Pin it" });
  await userEvent.click(mark);
  expect(screen.queryByText(/no absolute path/)).toBeNull();
  await userEvent.click(mark);
  expect((await screen.findByRole("alert")).textContent).toBe("There is no room.");
  rerender(<ContextFooter {...rest} context={{ ...context, proofs: { ...context.proofs } }} />);
  expect(screen.getByRole("alert")).toBeTruthy();
  rerender(<ContextFooter {...rest} context={{ ...context, sets: { tickets: ["A-1"] } }} />);
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a new set has a name and a first item", async () => {
  const { wishes } = openPanel();
  await userEvent.click(screen.getByRole("button", { name: "New set" }));
  await userEvent.type(screen.getByRole("combobox", { name: "Name of the set" }), "ports");
  await userEvent.type(screen.getByRole("textbox", { name: "Its first item" }), "8080{Enter}");
  await screen.findByRole("button", { name: "New set" });
  expect(wishes).toEqual([{ setName: "ports", items: ["8080"], mode: "merge" }]);
});

test("facts have counts, exit codes, and a way to the call behind them", async () => {
  const { onClose } = openPanel();
  const commands = within(screen.getByRole("list", { name: "Commands" }));
  expect(commands.getByText("exit 101")).toBeTruthy();
  expect(commands.getByText("The newest 1 of 130 are kept.")).toBeTruthy();
  const sought = vi.fn();
  addEventListener("throughline:sought", sought, { once: true });
  await userEvent.click(screen.getByRole("link", { name: "t12.3, the call behind /w/notes.md" }));
  expect(location.hash).toBe("#t12.3");
  expect(sought).toHaveBeenCalledOnce();
  expect(onClose).toHaveBeenCalledOnce();
});

test("the packet is asked for when somebody looks, and the hint is saved", async () => {
  const { http } = openPanel();
  expect(http.resumePacket).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: /What the agent would be told/ }));
  await screen.findByText("[Session resumed.]");
  expect(screen.getByText(/1,234 characters, about 309 tokens/)).toBeTruthy();
  const hint = screen.getByRole("textbox", { name: "Environment" });
  await userEvent.clear(hint);
  await userEvent.type(hint, "use guix{Enter}");
  expect(http.setEnvHint).toHaveBeenCalledWith("s", "use guix");
});

test("what cannot be changed offers no change", () => {
  openPanel({}, false);
  expect(screen.queryByRole("button", { name: /Add|Remove|Another|Save/ })).toBeNull();
});

const file: StoredFile = { path: "/w/a.md", content: "one\r\ntwo <b>\u202E\n", encoding: "utf-8", bytes: 14, cut: false, outside: false };

test("a file has numbered lines and is nothing but text", async () => {
  const { http } = server({ file: [{ ok: true, value: file }] });
  render(<FileViewer session="s" path="/w/a.md" onClose={vi.fn()} />, inApp({ http }));
  const shown = await screen.findByRole("region", { name: "The file" });
  expect(shown.querySelector("[data-numbers]")?.textContent).toBe("1\n2");
  expect(shown.querySelector("code")?.textContent).toBe("one\ntwo <b>⟨U+202E⟩\n");
  expect(shown.querySelector("b")).toBeNull();
});

test.each<[Partial<StoredFile>, string]>([
  [{ content: "AAAA", encoding: "base64", bytes: 2048 }, "This is not a text file, so it is not shown. It has 2.0 KiB."],
  [{ content: "x", cut: true, bytes: 3 << 20 }, "Only the beginning is shown. The whole file has 3.0 MiB."],
  [{ content: "", bytes: 0 }, "The file is empty."],
])("a file that is not all text: %o", async (change, words) => {
  const { http } = server({ file: [{ ok: true, value: { ...file, ...change } }] });
  render(<FileViewer session="s" path="/w/a.md" onClose={vi.fn()} />, inApp({ http }));
  await screen.findByText(words);
});

test("outside of the session's directory it asks first, once", async () => {
  const { http, read } = server({ file: [refused("outside_needs_confirm", "outside"), { ok: true, value: file }, { ok: true, value: file }] });
  render(<FileViewer session="s" path="/o/a.md" onClose={vi.fn()} />, inApp({ http }));
  await userEvent.click(await screen.findByRole("button", { name: "Open it" }));
  await screen.findByRole("region", { name: "The file" });
  cleanup();
  render(<FileViewer session="s" path="/o/a.md" onClose={vi.fn()} />, inApp({ http }));
  await screen.findByRole("region", { name: "The file" });
  expect(read).toEqual([
    ["/o/a.md", false],
    ["/o/a.md", true],
    ["/o/a.md", true],
  ]);
});
