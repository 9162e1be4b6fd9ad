// What was shown in a session: in order, by type, live, and where nothing was.
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { Followed } from "../../state/followed";
import { NOT_READ } from "../../state/followed";
import type { Item, TranscriptTurn } from "../../state/transcript";
import type { ListedOutput } from "../../wire/names";
import { ShownTab } from "./ShownTab";

beforeEach(() => {
  // Nothing is laid out here; the list has room for all.
  vi.stubGlobal("ResizeObserver", class { observe() { return undefined; } unobserve() { return undefined; } disconnect() { return undefined; } });
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(300);
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  history.replaceState(null, "", "/");
});

const id = (n: number) => `out_${String(n).padStart(32, "0")}`;
const output = (n: number, more: Partial<ListedOutput> = {}): ListedOutput => ({ id: id(n), type: "file", mimeType: "text/plain", bytes: 10, sha256: "00", path: `/p/file${n}.rs`, lines: 2, turn: n, createdAt: "", ...more });
const followed = (...items: Item[]): Followed => ({ ...NOT_READ, transcript: { ...NOT_READ.transcript, turns: [{ turn: 9, items } as unknown as TranscriptTurn] } });

function draw(pages: readonly ListedOutput[][], of: Followed = NOT_READ) {
  const outputs = vi.fn((_session: string, after: string | null) => {
    const at = Number(after ?? 0);
    return Promise.resolve({ ok: true, value: { outputs: pages[at] ?? [], nextCursor: at + 1 < pages.length ? String(at + 1) : null } });
  });
  const onJump = vi.fn();
  const tab = (now: Followed) => <ShownTab session="s" followed={now} place="beside" onJump={onJump} />;
  return { outputs, onJump, tab, ...render(tab(of), inApp({ http: { outputs } })) };
}

const names = () => screen.getAllByRole("link").map((link) => link.textContent);

test("all pages are read, and the newest stands first", async () => {
  const { outputs } = draw([[output(1), output(2)], [output(3, { type: "terminal", path: null, command: "make", exitCode: 2 })]]);
  await screen.findByText("3 outputs");
  expect(names()).toEqual(["makeexit 2 · 2 lines · 10 bytest3", "file2.rs2 lines · 10 bytest2", "file1.rs2 lines · 10 bytest1"]);
  expect(outputs).toHaveBeenCalledTimes(2);
});

test("what is shown meanwhile comes to the top, and what is removed goes", async () => {
  const { tab, rerender } = draw([[output(1)]], followed());
  await screen.findByText("1 output");
  const shown: Item = { type: "output", output: output(4) };
  rerender(tab(followed(shown)));
  expect(names()).toEqual(["file4.rs2 lines · 10 bytest9", "file1.rs2 lines · 10 bytest1"]);
  rerender(tab(followed({ ...shown, removed: "removed" })));
  expect(names()).toEqual(["file1.rs2 lines · 10 bytest1"]);
});

test("one type alone can be listed, and a press goes to the card", async () => {
  const { onJump } = draw([[output(1), output(2, { type: "image", path: "/p/a.png", lines: null })]]);
  const types = within(await screen.findByRole("group", { name: "What is listed" }));
  await userEvent.click(types.getByRole("button", { name: "Pictures" }));
  expect(names()).toEqual(["a.png10 bytest2"]);
  await userEvent.click(screen.getByRole("link"));
  expect([location.hash, onJump.mock.calls.length]).toEqual([`#t2.${id(2)}`, 1]);
});

test("where nothing was shown, it says how something would be", async () => {
  draw([[]]);
  await screen.findByText("Nothing has been shown yet");
});

test("an answer that does not come can be asked for again", async () => {
  const outputs = vi.fn<() => Promise<object>>(() => Promise.resolve({ ok: false, failure: { kind: "unreachable" } }));
  render(<ShownTab session="s" followed={NOT_READ} place="beside" onJump={vi.fn()} />, inApp({ http: { outputs } }));
  const again = await screen.findByRole("button", { name: "Try again" });
  outputs.mockResolvedValue({ ok: true, value: { outputs: [output(1)], nextCursor: null } });
  await userEvent.click(again);
  await screen.findByText("1 output");
});
