// The list: what its keys act on, when they act at all, and what becomes of the selection.
import { act, cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { LiveListener } from "../api/live";
import { useAvailable } from "../app/actions";
import { AppContext } from "../app/AppContext";
import type { BulkAction } from "../app/bulkActions";
import type { Frame } from "../app/FrameContext";
import { FrameContext } from "../app/FrameContext";
import { createApp } from "../state/app";
import type { ServerFrame, SessionRow } from "../wire/names";
import { SessionListPage } from "./SessionListPage";

const row = (id: string, minute: number, change: Partial<SessionRow> = {}) =>
  ({ id, title: id, agent: "guide", project: "/srv/loom", state: "idle", unobserved: false, turns: 1, activeAt: `2026-01-02T03:0${minute}:00.000Z`, meta: { name: "" }, ...change }) as SessionRow;

interface Given {
  rows?: SessionRow[];
  current?: string | null;
  hasSessions?: boolean | null;
  nextCursor?: string | null;
}

/** What can be done by name, as the palette lists it. */
function Names() {
  return (
    <ul aria-label="Palette">
      {useAvailable().map(({ name, run }) => (
        <li key={name}>
          <button type="button" onClick={run}>
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}

function open({ rows = [row("c", 3), row("b", 2), row("a", 1)], current = null, hasSessions = true, nextCursor = null }: Given = {}) {
  let listener: LiveListener | undefined;
  const never = () => new Promise<never>(() => undefined);
  const http = new Proxy({}, { get: () => vi.fn(never) });
  const app = createApp({
    http: http as never,
    openLive(given) {
      listener = given;
      return { follow: () => undefined, unfollow: () => undefined, openApplet: () => undefined, closeApplet: () => undefined, writeAppletState: () => new Promise<never>(() => undefined) };
    },
    schedule: (flush) => flush(),
  });
  const failing = new Set<string>();
  const run = vi.fn((_action: BulkAction, chosen: readonly SessionRow[]) => Promise.resolve({ words: "", undo: null, failed: chosen.map(({ id }) => id).filter((id) => failing.has(id)) }));
  const frame: Frame = { show: vi.fn(), goOn: vi.fn(), remove: never, run };
  const page = (shown: boolean) => (
    <AppContext value={app}>
      <FrameContext value={frame}>
        <Names />
        <SessionListPage current={current} shown={shown} hasSessions={hasSessions} />
        <dialog data-testid="dialog">
          <input aria-label="In a dialog" />
        </dialog>
      </FrameContext>
    </AppContext>
  );
  const { rerender } = render(page(true));
  act(() => listener?.frame({ type: "list", sessions: rows, metaContexts: [], unobservedCount: 0, nextCursor } as unknown as ServerFrame));
  const link = (id: string) => within(screen.getByRole("navigation", { name: "Sessions" })).getAllByRole("link").find((each) => each.dataset["row"] === id) as HTMLElement;
  const change = (session: SessionRow) => act(() => listener?.frame({ type: "row", session, unobservedCount: 0 } as unknown as ServerFrame));
  return { run, failing, link, change, show: (shown: boolean) => rerender(page(shown)), ran: () => run.mock.calls.map(([action, chosen]) => `${action.kind} ${chosen.map(({ id }) => id).join(" ")}`) };
}

const names = () => within(screen.getByRole("list", { name: "Palette" })).queryAllByRole("button").map(({ textContent }) => textContent);
const selected = () => screen.queryByRole("toolbar", { name: "Selected sessions" })?.querySelector('[role="status"]')?.textContent ?? null;

beforeEach(() => {
  localStorage.clear();
  // Nothing is laid out here, so that no row would be in view.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("the list's keys leave the open session alone, and act on the row with the focus", async () => {
  const { ran, link } = open({ current: "b" });
  await userEvent.keyboard("xepl");
  expect(ran()).toEqual([]);
  expect(selected()).toBeNull();
  expect(names()).not.toContain("Pin or unpin it");
  act(() => link("b").focus());
  await userEvent.keyboard("ep");
  expect(ran()).toEqual(["archive b", "pin b"]);
  act(() => link("b").blur());
  await userEvent.keyboard("e");
  expect(ran()).toHaveLength(2);
});

test("the open session's row is brought into view once, and the list then stays where it is scrolled to", () => {
  const scrolled = vi.spyOn(HTMLElement.prototype, "scrollTo").mockImplementation(() => undefined);
  const rows = Array.from({ length: 60 }, (_, nth) => row(`s${nth}`, 1 + (nth % 9)));
  const { change } = open({ rows, current: "s50" });
  expect(scrolled).toHaveBeenCalled();
  scrolled.mockClear();
  change(row("s3", 9));
  expect(scrolled).not.toHaveBeenCalled();
});

test.each([
  [null, false],
  [false, false],
  [true, true],
])("where there being sessions is %s, that all is seen is said: %s", (hasSessions, said) => {
  open({ rows: hasSessions === true ? [row("a", 1)] : [], hasSessions });
  expect(screen.queryByText("All caught up") !== null).toBe(said);
});

test("where the row with the focus is archived, the next one has it, and at the end the one before", () => {
  const { link, change } = open();
  const archivedAt = "2026-01-02T03:09:00.000Z";
  act(() => link("b").focus());
  change(row("b", 2, { archivedAt }));
  expect(document.activeElement).toBe(link("a"));
  change(row("a", 1, { archivedAt }));
  expect(document.activeElement).toBe(link("c"));
});

test("a row that leaves takes no focus from elsewhere", () => {
  const { link, change } = open();
  act(() => link("b").focus());
  const elsewhere = screen.getByLabelText("In a dialog");
  act(() => elsewhere.focus());
  change(row("b", 2, { archivedAt: "2026-01-02T03:09:00.000Z" }));
  expect(document.activeElement).toBe(elsewhere);
});

test("the palette acts on the row that had the focus when it was opened", () => {
  const { ran, link } = open();
  act(() => link("b").focus());
  act(() => screen.getByLabelText("In a dialog").focus());
  act(() => screen.getByText(/^Archive or unarchive/).click());
  expect(ran()).toEqual(["archive b"]);
});

test("a list that is not shown takes no keys, offers nothing and holds no dialog", async () => {
  const { ran, link, show } = open();
  act(() => link("b").focus());
  await userEvent.keyboard("l");
  expect(screen.getByRole("dialog", { name: "Tags of “b”" })).toBeTruthy();
  show(false);
  expect(screen.queryByRole("dialog", { name: /Tags/ })).toBeNull();
  await userEvent.keyboard("jxepl");
  expect(ran()).toEqual([]);
  expect(selected()).toBeNull();
  expect(names()).toEqual([]);
  show(true);
  expect(screen.queryByRole("dialog", { name: /Tags/ })).toBeNull();
});

test("Escape ends the selection wherever the focus is, and means nothing else", async () => {
  const { link } = open({ current: "b" });
  act(() => link("b").focus());
  await userEvent.keyboard("x");
  expect(selected()).toBe("1 session selected");
  act(() => link("b").blur());
  expect(document.activeElement).toBe(document.body);
  const heard: boolean[] = [];
  const listen = (event: KeyboardEvent) => heard.push(event.defaultPrevented);
  window.addEventListener("keydown", listen);
  await userEvent.keyboard("{Escape}{Escape}");
  window.removeEventListener("keydown", listen);
  expect(selected()).toBeNull();
  expect(heard).toEqual([true, false]);
});

test("a selection ends when other sessions are shown, and deleted ones take no keys", async () => {
  const { ran, link } = open();
  await userEvent.click(screen.getByRole("button", { name: "What the list shows" }));
  await userEvent.click(screen.getByRole("button", { name: "Select several" }));
  await userEvent.click(link("b"));
  expect(selected()).toBe("1 session selected");
  await userEvent.click(screen.getByRole("button", { name: "What the list shows" }));
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Show" }), "deleted");
  expect(selected()).toBeNull();
  expect(names()).toEqual([]);
  act(() => (document.activeElement as HTMLElement).blur());
  await userEvent.keyboard("ep");
  expect(ran()).toEqual([]);
});

test("what was refused stays selected, and the selection ends when nothing is left", async () => {
  const { link, failing, ran } = open();
  failing.add("b");
  const user = userEvent.setup();
  await user.keyboard("{Control>}");
  await user.click(link("a"));
  await user.click(link("b"));
  await user.keyboard("{/Control}");
  await user.click(screen.getByRole("button", { name: "Archive" }));
  expect(selected()).toBe("1 session selected");
  failing.clear();
  await user.click(screen.getByRole("button", { name: "Archive" }));
  expect(ran()).toEqual(["archive b a", "archive b"]);
  expect(selected()).toBeNull();
});

test("a row that the filter hides is not selected when it comes back", async () => {
  const { link } = open();
  const user = userEvent.setup();
  await user.keyboard("{Control>}");
  await user.click(link("a"));
  await user.click(link("b"));
  await user.keyboard("{/Control}");
  const filter = screen.getByRole("searchbox", { name: "Filter the list" });
  await user.type(filter, "b");
  expect(selected()).toBe("1 session selected");
  await user.clear(filter);
  expect(selected()).toBe("1 session selected");
});

test("selecting a row draws no other", async () => {
  const looks = { a: 0, b: 0 };
  const watched = (id: "a" | "b", minute: number) =>
    new Proxy(row(id, minute), {
      get(target, name, self: unknown) {
        looks[id] += name === "title" ? 1 : 0;
        return Reflect.get(target, name, self) as unknown;
      },
    });
  const { link } = open({ rows: [watched("b", 2), watched("a", 1)] });
  act(() => link("a").focus());
  await userEvent.keyboard("x");
  looks.a = looks.b = 0;
  await userEvent.keyboard("x");
  expect(looks.a).toBeGreaterThan(0);
  expect(looks.b).toBe(0);
});

test("each line says its place among all, as far as that is known", () => {
  open();
  const places = () => [...document.querySelectorAll("li[aria-posinset]")].map((item) => `${item.getAttribute("aria-posinset")}/${item.getAttribute("aria-setsize")}`);
  expect(places()).toEqual(["1/4", "2/4", "3/4", "4/4"]);
  cleanup();
  open({ nextCursor: "1.a" });
  expect(places()[0]).toBe("1/-1");
});

test("where all are archived the list says so and leads to them", async () => {
  open({ rows: [] });
  expect(screen.getByText("Every session is archived.").getAttribute("role")).toBe("status");
  await userEvent.click(screen.getByRole("button", { name: "Show archived sessions" }));
  expect(screen.getByRole("button", { name: "Remove filter Archived" })).toBeTruthy();
});

test("first steps stand in the list where it is the page, and not beside the page", () => {
  open({ rows: [], hasSessions: false });
  expect(screen.getByText("No sessions yet.")).toBeTruthy();
  expect(screen.queryByText("Start with one session")).toBeNull();
  cleanup();
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
  open({ rows: [], hasSessions: false });
  expect(screen.getByText("Start with one session")).toBeTruthy();
});
