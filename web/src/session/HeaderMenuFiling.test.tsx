// The session's menu: how it is filed is shown and changed there, and by name from the palette.
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useRef } from "react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { useAvailable } from "../app/actions";
import type { Frame } from "../app/FrameContext";
import { FrameContext } from "../app/FrameContext";
import { inApp } from "../app/inApp";
import type { SessionRow } from "../wire/names";
import { HeaderMenu } from "./HeaderMenu";
import { useReport } from "./useReport";

const ROW = { id: "s", title: "Mend the loom", tags: ["bug", "ui"], meta: { name: "" } } as unknown as SessionRow;

function Names() {
  return useAvailable().map(({ name, keys, run }) => (
    <button key={name} type="button" data-keys={keys} onClick={run}>
      {name}
    </button>
  ));
}

function Menu({ row }: { row: SessionRow }) {
  const menu = useRef<HTMLDivElement>(null);
  return <HeaderMenu ref={menu} row={row} reporting={useReport(row)} onShow={vi.fn()} onDelete={vi.fn()} handOver={null} />;
}

function open(change: Partial<SessionRow> = {}) {
  const run = vi.fn(() => Promise.resolve({ words: "", undo: null, failed: [] }));
  const frame: Frame = { show: vi.fn(), goOn: vi.fn(), remove: vi.fn(), run };
  const row = { ...ROW, ...change };
  const { wrapper: Wrapper } = inApp({ http: { tags: () => Promise.resolve({ ok: true, value: { tags: [{ tag: "bug" }, { tag: "docs" }] } }) } });
  render(
    <Wrapper>
      <FrameContext value={frame}>
        <Names />
        <Menu row={row} />
      </FrameContext>
    </Wrapper>,
  );
  return { run, row };
}

// The test's browser knows no popovers.
beforeAll(() => {
  HTMLElement.prototype.showPopover = () => undefined;
});
afterEach(cleanup);

test("tags are shown in the menu, and changed from there", async () => {
  const { run, row } = open();
  await userEvent.click(screen.getByRole("button", { name: "More of this session" }));
  await userEvent.click(screen.getByRole("button", { name: "Tags… #bug #ui" }));
  expect(screen.getByRole("dialog", { name: "Tags of “Mend the loom”" })).toBeTruthy();
  await userEvent.click(await screen.findByRole("button", { name: "Add docs" }));
  expect(run).toHaveBeenCalledExactlyOnceWith({ kind: "tag", add: ["docs"], remove: [] }, [row]);
  expect(screen.queryByRole("dialog")).toBeNull();
});

test.each([
  [{}, "Archive this session", { kind: "archive", archived: true }],
  [{ archivedAt: "2026-01-02T03:04:05.006Z" }, "Unarchive this session", { kind: "archive", archived: false }],
  [{}, "Pin this session", { kind: "pin", pinned: true }],
  [{ pinnedAt: "2026-01-02T03:04:05.006Z" }, "Unpin this session", { kind: "pin", pinned: false }],
] as const)("%j is filed by its name: %s", async (change, name, action) => {
  const { run, row } = open(change);
  const command = screen.getByText(name);
  expect(command.dataset["keys"]).toBe("");
  act(() => command.click());
  await waitFor(() => expect(run).toHaveBeenCalledExactlyOnceWith(action, [row]));
});

test("the menu archives and unarchives by the words that the list uses", async () => {
  open({ archivedAt: "2026-01-02T03:04:05.006Z" });
  await userEvent.click(screen.getByRole("button", { name: "More of this session" }));
  expect(screen.getByRole("button", { name: "Unarchive" })).toBeTruthy();
});
