// The changes: what is asked of the server, how each file is told, and what becomes of a comment.
import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Http } from "../../api/http";
import { inApp } from "../../app/inApp";
import { NOT_READ } from "../../state/followed";
import type { ChangedFile, ChangesPage, FileDiff, SessionRow } from "../../wire/names";
import { ComposeContext } from "../composer/ComposeContext";
import { ChangesTab } from "./ChangesTab";

const AT = "2026-01-02T03:04:05.006Z";
const row: SessionRow = {
  id: "s",
  agent: "guide",
  cwd: "/w",
  project: "/w",
  state: "idle",
  title: "Mend the loom",
  turns: 4,
  unobserved: false,
  createdAt: AT,
  activeAt: AT,
  meta: { context: {}, name: "" },
};

function changed(name: string, more: Partial<ChangedFile> = {}): ChangedFile {
  return { path: `/w/${name}`, name, status: "changed", by: "session", turns: [2], compared: "lines", lines: { added: 1, removed: 1 }, ...more };
}

const DIFF: FileDiff = {
  file: changed("src/a.rs"),
  hunks: [{ oldStart: 7, newStart: 7, lines: [{ kind: "same", text: "fn a() {" }, { kind: "removed", text: "  <b>old</b>" }, { kind: "added", text: "  new" }] }],
};

/** What comes after the first page of a diff that has more. */
const REST: FileDiff = { file: DIFF.file, hunks: [{ oldStart: 40, newStart: 40, lines: [{ kind: "added", text: "  far below" }] }] };
const OTHER: FileDiff = { file: DIFF.file, hunks: [{ oldStart: 1, newStart: 1, lines: [{ kind: "added", text: "another line" }] }] };
const DOWN = { ok: false, failure: { kind: "unreachable" } };

async function openFile() {
  await userEvent.click(await screen.findByRole("button", { name: /a\.rs/ }));
  return within(await screen.findByRole("listbox", { name: "Lines of src/a.rs" }));
}

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class { observe() { return undefined; } disconnect() { return undefined; } });
  Element.prototype.scrollIntoView = () => undefined;
});

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
});

function open(page: Partial<ChangesPage>, diff: FileDiff = DIFF) {
  const asked: unknown[] = [];
  const added: string[] = [];
  /** What the server does next. */
  const server = { down: false, diff };
  const http = {
    changes: (_: string, since: unknown) => {
      asked.push(since);
      return Promise.resolve(server.down ? DOWN : { ok: true, value: { files: [], more: 0, lines: { added: 0, removed: 0 }, earlierLeftOut: false, git: false, ...page } });
    },
    fileDiff: (_: string, path: string, since: unknown, after: number) => {
      asked.push([path, since, after]);
      return Promise.resolve(server.down ? DOWN : { ok: true, value: after === 0 ? server.diff : REST });
    },
  } as unknown as Http;
  const compose = { edit: () => undefined, add: (text: string) => added.push(text) };
  const drawn = (read: number) => (
    <ComposeContext value={compose}>
      <ChangesTab row={row} followed={NOT_READ} read={read} onJump={vi.fn()} />
    </ComposeContext>
  );
  const { rerender } = render(drawn(3), inApp({ http }));
  return { asked, added, server, readOn: (read: number) => rerender(drawn(read)) };
}

test("a line is commented on, and goes into the prompt with where it is", async () => {
  const { asked, added } = open({ files: [changed("src/a.rs")] });
  await userEvent.click(await screen.findByRole("button", { name: /a\.rs/ }));
  const lines = within(await screen.findByRole("listbox", { name: "Lines of src/a.rs" }));
  expect(lines.getAllByRole("option").map(({ textContent }) => textContent)).toEqual(["77 fn a() {", "8−Removed:   <b>old</b>", "8+Added:   new"]);
  await userEvent.click(lines.getByText("new"));
  const field = screen.getByRole("textbox", { name: "Comment on src/a.rs:8" });
  await userEvent.type(field, "Why?{Enter}");
  expect(added).toEqual(["src/a.rs:8\n>   new\nWhy?"]);
  expect(screen.getByText("The comment is in your prompt.")).toBeTruthy();
  expect(asked).toEqual([{ since: "session" }, ["/w/src/a.rs", { since: "session" }, 0]]);
});

test("that a comment was added is said for a moment", async () => {
  open({ files: [changed("src/a.rs")] });
  await userEvent.click(await screen.findByRole("button", { name: /a\.rs/ }));
  await userEvent.click(within(await screen.findByRole("listbox", { name: "Lines of src/a.rs" })).getByText("new"));
  vi.useFakeTimers();
  try {
    fireEvent.change(screen.getByRole("textbox", { name: /^Comment on/ }), { target: { value: "Why?" } });
    fireEvent.click(screen.getByRole("button", { name: "Add to the prompt" }));
    expect(screen.getByText("The comment is in your prompt.")).toBeTruthy();
    act(() => void vi.advanceTimersByTime(6_000));
    expect(screen.queryByText("The comment is in your prompt.")).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

test("who changed a file and what is not shown of it is said", async () => {
  open({
    git: true,
    earlierLeftOut: true,
    more: 3,
    incomplete: true,
    leftOut: ["2 names are not valid UTF-8"],
    files: [changed(".env", { compared: "protected", lines: null, by: "outside" }), changed("b", { by: "both" }), changed("c", { status: "moved", from: "d" })],
  });
  const secret = within(await screen.findByRole("region", { name: ".env" }));
  expect(secret.getByText("changed outside")).toBeTruthy();
  expect(within(screen.getByRole("region", { name: "b" })).getByText("also changed outside")).toBeTruthy();
  expect(within(screen.getByRole("region", { name: "c" })).getByText("moved")).toBeTruthy();
  expect(screen.getByText("6 files")).toBeTruthy();
  expect(screen.getByText(/3 more files changed/)).toBeTruthy();
  expect(screen.getByText(/oldest edits were not looked at/)).toBeTruthy();
  expect(screen.getByText(/may be more changed files than could be compared. 2 names are not valid UTF-8\./)).toBeTruthy();
});

test("what is left out of the changes outside is mentioned", async () => {
  const file = changed("b", { by: "both" });
  open({ files: [file] }, { ...DIFF, file, outside: DIFF.hunks, outsideCut: true });
  await userEvent.click(await screen.findByRole("button", { name: /b/ }));
  expect(await screen.findByText("The rest of it is left out.")).toBeTruthy();
});

test("it can be asked about a turn, and about git where there is a repository", async () => {
  const { asked } = open({ git: true });
  await screen.findByText("No file changed.");
  const since = screen.getByRole("combobox", { name: "Since" });
  await userEvent.selectOptions(since, "turn");
  await screen.findByText("No file changed.");
  await userEvent.selectOptions(since, "from-turn");
  await screen.findByText("No file changed.");
  await userEvent.selectOptions(since, "git");
  await screen.findByText("No file changed.");
  expect(asked).toEqual([{ since: "session" }, { turn: "t3" }, { since: "t3" }, { since: "git" }]);
  await userEvent.selectOptions(since, "session");
});

test("without a repository git is not offered, and why is said where there is one", async () => {
  open({ gitTrouble: "the repository belongs to another user and is not read" });
  await screen.findByText("The repository belongs to another user and is not read.");
  expect(screen.queryByRole("option", { name: /git/ })).toBeNull();
});

test("a refresh that fails leaves the list, the diff and a comment that is being written", async () => {
  const { server } = open({ files: [changed("src/a.rs")] });
  await openFile();
  server.down = true;
  await userEvent.click(screen.getByRole("button", { name: "Refresh" }));
  expect(await screen.findAllByText("The server did not answer.")).toHaveLength(2);
  await userEvent.click(screen.getByText("new"));
  await userEvent.type(screen.getByRole("textbox", { name: "Comment on src/a.rs:8" }), "Why");
  expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Comment on src/a.rs:8" }).value).toBe("Why");
});

test("while a comment is written the diff stays; afterwards it is asked for again", async () => {
  const { server, added, asked } = open({ files: [changed("src/a.rs")] });
  const lines = await openFile();
  await userEvent.click(lines.getByText("new"));
  const field = screen.getByRole("textbox", { name: "Comment on src/a.rs:8" });
  await userEvent.type(field, "Why?");
  server.diff = OTHER;
  const before = asked.length;
  act(() => void dispatchEvent(new Event("focus")));
  expect(screen.getByText(/compared again when your comment is done/)).toBeTruthy();
  expect(asked).toHaveLength(before);
  await userEvent.type(field, "{Enter}");
  expect(added).toEqual(["src/a.rs:8\n>   new\nWhy?"]);
  expect(await lines.findByText("another line")).toBeTruthy();
  expect(screen.queryByText(/compared again/)).toBeNull();
});

test("what was chosen in lines that are there no more is chosen no more", async () => {
  const { server } = open({ files: [changed("src/a.rs")] });
  const lines = await openFile();
  const list = screen.getByRole("listbox", { name: "Lines of src/a.rs" });
  fireEvent.keyDown(list, { key: "End" });
  expect(lines.getAllByRole("option", { selected: true })).toHaveLength(1);
  server.diff = OTHER;
  await userEvent.click(screen.getByRole("button", { name: "Refresh" }));
  await lines.findByText("another line");
  expect(lines.queryByRole("option", { selected: true })).toBeNull();
  fireEvent.keyDown(list, { key: "Enter" });
  expect(screen.queryByRole("textbox")).toBeNull();
});

test("more lines come once for two presses, say so when they do not, and stay with a refresh", async () => {
  const { server, asked } = open({ files: [changed("src/a.rs")] }, { ...DIFF, nextAfter: 3 });
  const lines = await openFile();
  server.down = true;
  await userEvent.click(screen.getByRole("button", { name: "Show more lines" }));
  expect(await screen.findByText("The server did not answer.")).toBeTruthy();
  server.down = false;
  const more = screen.getByRole("button", { name: "Show more lines" });
  asked.length = 0;
  fireEvent.click(more);
  fireEvent.click(more);
  await lines.findByText("far below");
  expect(lines.getAllByText("far below")).toHaveLength(1);
  expect(asked).toEqual([["/w/src/a.rs", { since: "session" }, 3]]);
  expect(screen.queryByText("The server did not answer.")).toBeNull();
  server.diff = { ...OTHER, nextAfter: 1 };
  await userEvent.click(screen.getByRole("button", { name: "Refresh" }));
  await lines.findByText("another line");
  expect(lines.getByText("far below")).toBeTruthy();
});

test("the turn that is compared with stays while the reader goes on", async () => {
  const { asked, readOn } = open({});
  await screen.findByText("No file changed.");
  readOn(2);
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Since" }), "turn");
  await waitFor(() => expect(asked.at(-1)).toEqual({ turn: "t2" }));
  readOn(4);
  readOn(1);
  expect(screen.getByRole<HTMLInputElement>("spinbutton", { name: "Turn" }).value).toBe("2");
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Since" }), "from-turn");
  await waitFor(() => expect(asked.at(-1)).toEqual({ since: "t2" }));
  expect(asked).toHaveLength(3);
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Since" }), "session");
});

test("two columns are a switch with one name", async () => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      readonly changed: () => void;
      constructor(changed: () => void) {
        this.changed = changed;
      }
      observe(element: Element) {
        Object.defineProperty(element, "clientWidth", { value: 900 });
        this.changed();
      }
      disconnect() {
        return undefined;
      }
    },
  );
  open({});
  const button = await screen.findByRole("button", { name: "Side by side", pressed: true });
  await userEvent.click(button);
  expect(screen.getByRole("button", { name: "Side by side", pressed: false })).toBe(button);
  await userEvent.click(button);
});
