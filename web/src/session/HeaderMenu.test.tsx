// The session's menu: what came of it is said in the header, and the focus is not lost.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useRef, useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { useActions, useAvailable } from "../app/actions";
import { FrameContext } from "../app/FrameContext";
import { inApp } from "../app/inApp";
import type { SessionRow } from "../wire/names";
import { HeaderMenu } from "./HeaderMenu";
import { useReport } from "./useReport";

const row = { id: "s", state: "idle", title: "The loom", meta: { name: "" } } as SessionRow;
const TICKET = { ok: true, value: { url: "/api/v1/tickets/t1", expiresAt: "" } };
const DOWN = { ok: false, failure: { kind: "unreachable" } };

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class { observe() { return undefined; } disconnect() { return undefined; } });
  HTMLElement.prototype.showPopover = () => undefined;
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Header({ onDelete }: { onDelete(): void }) {
  const reporting = useReport(row);
  const menu = useRef<HTMLDivElement>(null);
  const commands = useAvailable();
  return (
    <>
      <HeaderMenu ref={menu} row={row} reporting={reporting} onShow={vi.fn()} onDelete={onDelete} handOver={() => <p>Agents</p>} />
      {reporting.report !== null && <p role={reporting.report.kind === "failed" ? "alert" : "status"}>{reporting.report.words}</p>}
      {commands.map(({ name, run }) => (
        <button key={name} type="button" onClick={run}>
          {name}
        </button>
      ))}
    </>
  );
}

function open(answer: object) {
  const http = { markdown: vi.fn(() => Promise.resolve(answer)), exportTicket: vi.fn(() => Promise.resolve(answer)) };
  const onDelete = vi.fn();
  const frame = { show: vi.fn(), goOn: vi.fn(), remove: vi.fn(), run: vi.fn() };
  render(
    <FrameContext value={frame}>
      <Header onDelete={onDelete} />
    </FrameContext>,
    inApp({ http }),
  );
  return { http, onDelete, frame, menu: screen.getByRole("button", { name: "More of this session" }) };
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

test("search of every session is in the menu, as the header’s own finds in this one", async () => {
  const { menu, frame } = open(DOWN);
  await userEvent.click(menu);
  await press("Search every session");
  expect(frame.show).toHaveBeenCalledWith("search");
});

test("saving says when it failed, after the menu is closed", async () => {
  const name = "Web page";
  const { menu, http } = open(DOWN);
  await userEvent.click(menu);
  await press("Export as…");
  await press(name);
  expect(http.exportTicket).toHaveBeenCalledWith("s", "html");
  expect((await screen.findByRole("alert")).textContent).toBe("The server did not answer.");
  expect(screen.queryByRole("button", { name })).toBeNull();
});

test("each sort of file that a session is saved as is an address that the browser reads by itself", async () => {
  const names: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function click(this: HTMLAnchorElement) {
    names.push(`${this.getAttribute("href")} as ${this.download}`);
  });
  const { menu, http } = open(TICKET);
  for (const name of ["Markdown", "Web page", "Bundle"]) {
    await userEvent.click(menu);
    await press("Export as…");
    await press(name);
    await screen.findByText("The browser saves the session as a file.");
  }
  expect(http.exportTicket.mock.calls.map((call: unknown[]) => call[1])).toEqual(["markdown", "html", "bundle"]);
  expect(names).toEqual(["The-loom.md", "The-loom.html", "The-loom.tar"].map((name) => `/api/v1/tickets/t1 as ${name}`));
});

test("copying and saving by name say what came of it", async () => {
  const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockReturnValue(undefined);
  const { http } = open({ ok: true, value: "# The loom" });
  const writeText = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue(undefined);
  await press("Copy the session as Markdown");
  expect((await screen.findByText("The session is copied.")).role).toBe("status");
  expect(writeText).toHaveBeenCalledWith("# The loom");
  writeText.mockRejectedValue(new Error("no leave"));
  await press("Copy the session as Markdown");
  expect((await screen.findByText(/does not let it be copied/)).role).toBe("alert");
  http.exportTicket.mockResolvedValue(TICKET);
  await press("Save the session as Markdown");
  await screen.findByText("The browser saves the session as a file.");
  expect(click).toHaveBeenCalledOnce();
  http.markdown.mockResolvedValue(DOWN);
  await press("Copy the session as Markdown");
  await screen.findByText("The server did not answer.");
});

test("copying from the menu closes it and says what came of it", async () => {
  const { menu } = open({ ok: true, value: "# The loom" });
  const writeText = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue(undefined);
  await userEvent.click(menu);
  await press("Copy as Markdown");
  await screen.findByText("The session is copied.");
  expect(writeText).toHaveBeenLastCalledWith("# The loom");
  expect(menu.getAttribute("aria-expanded")).toBe("false");
  expect(screen.queryByRole("button", { name: "Copy as Markdown" })).toBeNull();
});

test("whoever closes the menu or takes something from it is on its button afterwards", async () => {
  const { menu, onDelete } = open(DOWN);
  await userEvent.click(menu);
  await userEvent.tab();
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Search every session" }));
  await userEvent.keyboard("{Escape}");
  expect(document.activeElement).toBe(menu);
  await userEvent.click(menu);
  await press("Delete session");
  expect(onDelete).toHaveBeenCalledOnce();
  expect(document.activeElement).toBe(menu);
  await userEvent.click(menu);
  await press("Hand over to…");
  expect(document.activeElement?.textContent).toBe("Agents");
  await userEvent.keyboard("{Escape}");
  expect(document.activeElement).toBe(menu);
});

/** Stands for the title, which is renamed in a field of its own, and for the session, which is forked. */
function Offers({ onFork }: { onFork: (() => void) | undefined }) {
  const [renaming, setRenaming] = useState(false);
  useActions({ rename: () => setRenaming(true), fork: onFork });
  return renaming ? <input aria-label="Name" autoFocus /> : null;
}

test("the session is renamed and forked from the menu, where that can be done", async () => {
  const { menu } = open(DOWN);
  await userEvent.click(menu);
  expect(screen.queryByRole("button", { name: "Rename" })).toBeNull();
  await userEvent.click(menu);
  const onFork = vi.fn();
  const { rerender } = render(<Offers onFork={onFork} />);
  await userEvent.click(menu);
  await press("Fork…");
  expect(onFork).toHaveBeenCalledOnce();
  await userEvent.click(menu);
  await press("Rename");
  expect(document.activeElement).toBe(screen.getByLabelText("Name"));
  rerender(<Offers onFork={undefined} />);
  await userEvent.click(menu);
  expect(screen.queryByRole("button", { name: "Fork…" })).toBeNull();
});
