// The panel around an applet's frame: what it asks in its own words, what it says of the applet, and how the frame is kept.
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStore } from "zustand/vanilla";

import { AppContext } from "../../app/AppContext";
import { ConnectionNotice } from "../../app/FrameContext";
import type { App, AppState } from "../../state/app";
import type { AppletNow } from "../../state/applets";
import { INITIAL_STATE } from "../../state/app";
import type { Followed } from "../../state/followed";
import { NOT_READ } from "../../state/followed";
import type { AppletGrant } from "../../wire/applets";
import type { OutputId, SessionRow } from "../../wire/names";
import { ComposeContext } from "../composer/ComposeContext";
import type { AppletAddress } from "./address";
import { AppletPanel } from "./AppletPanel";

const done = <T,>(value: T) => Promise.resolve({ ok: true as const, value });
const OUTPUT = `out_${"a1".repeat(16)}`;
const COUNTER: AppletAddress = { applet: "counter", params: { a: "1" }, past: null };
let sessions = 0;

interface Posted {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}
const posted: Posted[] = [];
const windows = new WeakMap<HTMLIFrameElement, object>();

beforeEach(() => {
  sessions += 1;
  // The test is the frame.
  vi.spyOn(HTMLIFrameElement.prototype, "src", "set").mockImplementation(function (this: HTMLIFrameElement, url: string) {
    this.setAttribute("data-src", url);
  });
  posted.length = 0;
  // Their pages are empty here, and come from nowhere.
  Object.assign((window as unknown as { happyDOM: { settings: object } }).happyDOM.settings, { enableIframePageLoading: true, disableIframePageLoading: false });
  vi.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockImplementation(function (this: HTMLIFrameElement) {
    const known = windows.get(this) ?? { postMessage: (message: Posted) => posted.push(message) };
    windows.set(this, known);
    return known as unknown as Window & typeof globalThis;
  });
  vi.stubGlobal("ResizeObserver", class { observe() { return undefined; } disconnect() { return undefined; } });
  HTMLElement.prototype.showPopover = () => undefined;
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function open({ address = COUNTER, followed = NOT_READ, http: more = {} }: { address?: AppletAddress; followed?: Followed; http?: object } = {}) {
  const session = `panel-${sessions}`;
  let hash = "h1";
  let tickets = 0;
  const granted: AppletGrant[] = [];
  const http = {
    appletTicket: vi.fn(() => done({ url: `/applet-frame/${++tickets}`, expiresAt: "", hash })),
    applet: vi.fn(() => done({ slug: "counter", name: "Counter", bundled: false, perSession: false, hash, createdAt: "", updatedAt: "", state: { n: 1 }, version: 5 })),
    appletGrants: () => done({ hash, grants: granted }),
    grantApplet: vi.fn((_s: string, _a: string, { grant }: { grant: AppletGrant }) => {
      granted.push(grant);
      return done({ hash, grants: granted });
    }),
    readAppletFile: vi.fn((_asking: object, path: string) => done({ path, content: "hi", encoding: "utf-8", bytes: 2, cut: false, hash: "f1" })),
    appletVersions: () => done({ versions: [{ version: Date.parse("2026-01-02T03:05:00Z"), bytes: 7 }, { version: Date.parse("2026-01-02T03:04:00Z"), bytes: 6 }] }),
    appletVersion: vi.fn(() => done({ state: { n: 0 }, version: 4 })),
    deleteApplet: vi.fn(() => done(undefined)),
    ...more,
  };
  const store = createStore<AppState>(() => INITIAL_STATE);
  const app = { http, store, openApplet: vi.fn(), closeApplet: vi.fn(), writeAppletState: vi.fn(() => done({ version: 6 })) };
  const go = vi.fn();
  const add = vi.fn();
  const panel = (now: AppletAddress, beside: { asks?: boolean; fresh?: OutputId; known?: Followed; notice?: string } = {}) => (
    <AppContext value={app as unknown as App}>
      <ConnectionNotice value={beside.notice ?? null}>
        <ComposeContext value={{ edit: vi.fn(), add }}>
          <AppletPanel
            row={{ id: session, title: "The loom", state: beside.asks ? "needs_you" : "idle" } as SessionRow}
            followed={beside.known ?? followed}
            address={now}
            writable
            go={go}
            onBrowse={vi.fn()}
            isOver={beside.asks ?? false}
            fresh={beside.fresh ?? null}
          />
        </ComposeContext>
      </ConnectionNotice>
    </AppContext>
  );
  const view = render(panel(address));
  const frame = () => document.querySelector("iframe");
  const say = (data: object) =>
    act(async () => {
      const source = frame()?.contentWindow ?? null;
      const event = new MessageEvent("message", { data: { jsonrpc: "2.0", ...data } });
      Object.defineProperty(event, "source", { value: source });
      window.dispatchEvent(event);
      await Promise.resolve();
    });
  const hears = async () => {
    await waitFor(() => expect(frame()).not.toBeNull());
    await say({ method: "ui/notifications/initialized" });
  };
  /** What the server says of it by itself. */
  const news = (change: Partial<AppletNow>) => act(() => store.setState({ applets: new Map([[session, { applet: "counter", state: { n: 1 }, version: 5, trouble: null, ...change }]]) }));
  const change = (to: string) => {
    hash = to;
    news({ hash: to });
  };
  return { http, news, app, store, session, go, add, view, panel, frame, say, hears, change };
}

test("the frame has an opaque origin, the page's looks by its name, and its state as soon as it listens", async () => {
  const { app, session, frame, hears } = open();
  await hears();
  expect(frame()?.getAttribute("sandbox")).toBe("allow-scripts");
  expect(frame()?.getAttribute("data-src")).toBe("/applet-frame/1");
  expect(JSON.parse(frame()?.name ?? "{}")).toMatchObject({ displayMode: "inline", throughline: { applet: "counter", title: "Counter", session, params: { a: "1" }, hash: "h1", past: false } });
  expect(app.openApplet).toHaveBeenCalledWith(session, "counter", { a: "1" });
  expect(posted).toMatchObject([{ method: "throughline/state", params: { state: { n: 1 }, version: 5 } }]);
  screen.getByRole("heading", { name: "Counter" });
});

test("news of the state and other parameters go to the frame, which stays", async () => {
  const { app, news, session, frame, hears, view, panel } = open();
  await hears();
  const before = frame();
  news({ state: { n: 2 }, version: 7 });
  view.rerender(panel({ ...COUNTER, params: { a: "2" } }));
  expect(posted.slice(1)).toMatchObject([
    { method: "throughline/state", params: { state: { n: 2 }, version: 7 } },
    { method: "ui/notifications/host-context-changed", params: { throughline: { params: { a: "2" } } } },
  ]);
  expect(frame()).toBe(before);
  expect(app.openApplet).toHaveBeenLastCalledWith(session, "counter", { a: "2" });
  view.unmount();
  expect(app.closeApplet).toHaveBeenCalledWith(session);
});

test("what it may not do yet is asked in the page, and a press at once does not count", async () => {
  const { http, hears, say } = open();
  await hears();
  await say({ id: 1, method: "tools/call", params: { name: "read_file", arguments: { path: "a" } } });
  const bar = await screen.findByRole("alertdialog", { name: "The applet asks" });
  expect(bar.textContent).toContain("“Counter” (counter) wants to read files of this session.");
  expect(bar.textContent).toContain("This holds in every session where you open it, until the applet changes. You can take it back in its menu.");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Allow" }).disabled).toBe(true);
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Allow" }).disabled).toBe(false));
  await userEvent.click(screen.getByRole("button", { name: "Allow" }));
  await waitFor(() => expect(http.readAppletFile).toHaveBeenCalledOnce());
  expect(http.grantApplet).toHaveBeenCalledWith(expect.any(String), "counter", { hash: "h1", grant: "files.read", granted: true });
  expect(screen.queryByRole("alertdialog")).toBeNull();
});

test("what was declined stays in sight above the frame, until the applet is loaded anew", async () => {
  const { hears, say } = open();
  await hears();
  await say({ id: 1, method: "tools/call", params: { name: "read_file", arguments: { path: "a" } } });
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Not now" }).disabled).toBe(false));
  await userEvent.click(screen.getByRole("button", { name: "Not now" }));
  await screen.findByText(/You did not allow/);
  await userEvent.click(screen.getByRole("button", { name: "More of this applet" }));
  await userEvent.click(await screen.findByText("Load it anew"));
  await waitFor(() => expect(screen.queryByText(/You did not allow/)).toBeNull());
});

test("errors are one quiet line, and go into the prompt only when that is asked for", async () => {
  const { hears, say, add } = open();
  await hears();
  await say({ method: "throughline/error", params: { message: "n is not <b>defined</b>", stack: "at save" } });
  expect(screen.queryByText(/not <b>defined/)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "1 error" }));
  screen.getByText(/n is not <b>defined<\/b>/);
  await userEvent.click(screen.getByRole("button", { name: "Send to agent" }));
  expect(add).toHaveBeenCalledExactlyOnceWith("The applet “Counter” (counter) reports 1 error:\n\n```\nn is not <b>defined</b>\nat save\n```");
});

test("other content is loaded and told of; what is gone is told of and stays in sight", async () => {
  const { frame, hears, change, news } = open();
  await hears();
  change("h2");
  await waitFor(() => expect(frame()?.getAttribute("data-src")).toBe("/applet-frame/2"));
  expect(document.querySelectorAll("iframe")).toHaveLength(1);
  await userEvent.click(screen.getByRole("button", { name: "Hide" }));
  expect(screen.queryByText(/It was changed/)).toBeNull();
  news({ state: {}, hash: null });
  screen.getByText(/not there any more/);
  expect(frame()).not.toBeNull();
});

test("as it was in a past turn it follows nothing and leads to today's", async () => {
  const past = { turn: 12, output: OUTPUT };
  const { app, http, go, session, hears } = open({ address: { ...COUNTER, past } });
  await hears();
  expect(http.appletTicket).toHaveBeenCalledWith(session, "counter", OUTPUT);
  expect(app.openApplet).not.toHaveBeenCalled();
  screen.getByText(/as it was shown in turn 12/);
  await userEvent.click(screen.getByRole("button", { name: "Open today’s" }));
  expect(go).toHaveBeenCalledWith({ ...COUNTER, past: null }, "push");
});

test("an earlier version of the state can be made the newest again", async () => {
  const { app, http, session, hears } = open();
  await hears();
  await userEvent.click(screen.getByRole("button", { name: "More of this applet" }));
  await userEvent.click(await screen.findByText("Versions and undo…"));
  const restore = await screen.findAllByText("Restore");
  expect(restore).toHaveLength(1);
  await userEvent.click(restore[0] as HTMLElement);
  await waitFor(() => expect(app.writeAppletState).toHaveBeenCalledWith(session, "counter", { state: { n: 0 }, writer: expect.any(String) as string }));
  expect(http.appletVersion).toHaveBeenCalledWith(session, "counter", Date.parse("2026-01-02T03:04:00Z"));
});

test("what it may do can be taken back, and it can be deleted after a question", async () => {
  const { http, go, hears } = open();
  await hears();
  await userEvent.click(screen.getByRole("button", { name: "More of this applet" }));
  await userEvent.click(await screen.findByText("What it may do…"));
  await userEvent.click(await screen.findByLabelText("write files of this session"));
  expect(http.grantApplet).toHaveBeenLastCalledWith(expect.any(String), "counter", { hash: "h1", grant: "files.write", granted: true });
  await userEvent.click(await screen.findByLabelText("write files of this session"));
  expect(http.grantApplet).toHaveBeenLastCalledWith(expect.any(String), "counter", { hash: "h1", grant: "files.write", granted: false });
  await userEvent.click(screen.getByRole("button", { name: "More of this applet" }));
  await userEvent.click(screen.getByRole("button", { name: "More of this applet" }));
  await userEvent.click(await screen.findByText("Delete applet…"));
  expect(http.deleteApplet).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(go).toHaveBeenCalledWith(null, "push"));
});

test("a frame that goes is moved aside and asked for what it has left, where the browser can do that", async () => {
  const moved: Node[] = [];
  Object.assign(document.body, {
    moveBefore(node: Node) {
      moved.push(node);
      document.body.append(node);
    },
  });
  const { hears, view, say } = open();
  await hears();
  view.unmount();
  expect(moved).toHaveLength(1);
  expect(document.querySelectorAll("iframe")).toHaveLength(1);
  expect(posted.at(-1)?.method).toBe("ui/resource-teardown");
  await say({ id: posted.at(-1)?.id, result: {} });
  await waitFor(() => expect(document.querySelectorAll("iframe")).toHaveLength(0));
  delete (document.body as { moveBefore?: unknown }).moveBefore;
});

test("an applet that can not be opened says why, and is asked for again", async () => {
  const refused = { ok: false, failure: { kind: "refused", status: 404, code: "applet_not_found", message: "there is no applet counter", details: {} } };
  const appletTicket = vi.fn(() => Promise.resolve(refused));
  open({ http: { appletTicket } });
  expect((await screen.findByRole("alert")).textContent).toContain("There is no applet counter.");
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(appletTicket).toHaveBeenCalledTimes(2));
});

test("over the transcript it says that the agent waits, and beside it that the agent shows another applet", async () => {
  const { hears, view, panel, go } = open();
  await hears();
  expect(screen.queryByText(/needs your answer/)).toBeNull();
  view.rerender(panel(COUNTER, { asks: true }));
  await userEvent.click(screen.getByRole("button", { name: "Show the question" }));
  expect(go).toHaveBeenLastCalledWith(null, "push");
  const known: Followed = { ...NOT_READ, newestApplet: { slug: "board", title: "A board", params: { a: "2" }, seq: 9, output: "out_9", live: true } };
  view.rerender(panel(COUNTER, { fresh: "out_9", known }));
  expect(screen.queryByText(/needs your answer/)).toBeNull();
  screen.getByText(/The agent shows A board/);
  await userEvent.click(screen.getByRole("button", { name: "Open it" }));
  expect(go).toHaveBeenLastCalledWith({ applet: "board", params: { a: "2" }, past: null }, "push");
});

const UNREADABLE = "state.json of this applet holds no state; mend the file, or set the whole state";
const unreadable = { ok: false, failure: { kind: "refused", status: 409, code: "applet_state_unreadable", message: UNREADABLE } };
const MENDED = { slug: "counter", name: "Counter", bundled: false, perSession: false, hash: "h1", createdAt: "", updatedAt: "", state: { n: 3 }, version: 5 };

test("a state that can not be read is said once, and what it is called is read as soon as it can be", async () => {
  const applet = vi.fn((): Promise<object> => Promise.resolve(unreadable));
  const { hears, news } = open({ http: { applet } });
  await hears();
  screen.getByText(/What this applet saved can not be read: state\.json of this applet holds no state/);
  news({ state: {}, version: -1, trouble: UNREADABLE });
  expect(screen.getAllByText(/can not be read/)).toHaveLength(1);
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(applet).toHaveBeenCalledTimes(2));
  screen.getByRole("heading", { name: "counter" });
  applet.mockResolvedValue({ ok: true, value: MENDED });
  news({});
  await screen.findByRole("heading", { name: "Counter" });
  expect(screen.queryByText(/can not be read/)).toBeNull();
  expect(applet).toHaveBeenCalledTimes(3);
});

test("a state that is edited into none while it is open is said, and its frame stays", async () => {
  const { http, hears, news, frame } = open();
  await hears();
  const before = frame();
  news({ trouble: UNREADABLE });
  screen.getByText(/What this applet saved can not be read/);
  news({ version: 6 });
  expect(screen.queryByText(/can not be read/)).toBeNull();
  expect(frame()).toBe(before);
  expect(http.applet).toHaveBeenCalledOnce();
});

test("one that could not be read at first is read again when it was changed", async () => {
  const refused = () => Promise.resolve({ ok: false, failure: { kind: "refused", status: 500, code: "applet_files_unusable", message: "no such luck", details: {} } });
  const appletTicket = vi.fn<() => Promise<object>>(refused);
  const { change, frame } = open({ http: { appletTicket } });
  await screen.findByText(/No such luck/i);
  appletTicket.mockImplementation(() => done({ url: "/applet-frame/1", expiresAt: "", hash: "h2" }));
  change("h2");
  await waitFor(() => expect(frame()).not.toBeNull());
  expect(screen.queryByText(/No such luck/i)).toBeNull();
});

test("a lost connection is said where the page says it, and not of what is past", async () => {
  const { hears, view, panel } = open();
  await hears();
  expect(screen.queryByText(/connection is lost/)).toBeNull();
  view.rerender(panel(COUNTER, { notice: "Connection lost." }));
  screen.getByText("The connection is lost. What you do here is kept in this tab until it is back; do not close or reload it.");
  view.rerender(panel({ ...COUNTER, past: { turn: 1, output: OUTPUT } }, { notice: "Connection lost." }));
  expect(screen.queryByText(/connection is lost/)).toBeNull();
});

test("the page asks before it is left only while the connection is lost and something is unsent", async () => {
  const { app, store, hears, say } = open({ http: { writeAppletState: () => Promise.resolve({ ok: false, failure: { kind: "unreachable" } }) } });
  await hears();
  const asks = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));
  const connection = (kind: "live" | "lost") => act(() => store.setState({ connection: kind === "live" ? { kind } : { kind, lastHeardAt: 1 } }));
  connection("lost");
  expect(asks()).toBe(false);
  app.writeAppletState.mockImplementation(() => Promise.resolve({ ok: false, failure: { kind: "unreachable" } }) as never);
  await say({ id: 1, method: "tools/call", params: { name: "applet_state_set", arguments: { merge: { n: 2 } } } });
  await waitFor(() => expect(asks()).toBe(true));
  app.writeAppletState.mockImplementation(() => done({ version: 6 }));
  connection("live");
  expect(asks()).toBe(false);
  connection("lost");
  await waitFor(() => expect(asks()).toBe(false));
});

test("the menu closes by its own button and when the focus goes into a frame, and not when another window has it", async () => {
  const { hears, frame } = open();
  await hears();
  const menu = () => screen.queryByRole("group", { name: "What can be done with this applet" });
  await userEvent.click(screen.getByRole("button", { name: "More of this applet" }));
  await userEvent.click(screen.getByText("Close this menu"));
  expect(menu()).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "More of this applet" }));
  await userEvent.click(await screen.findByText("What it may do…"));
  vi.useFakeTimers();
  dispatchEvent(new Event("blur"));
  act(() => vi.runOnlyPendingTimers());
  vi.useRealTimers();
  expect(menu()).not.toBeNull();
  vi.spyOn(document, "activeElement", "get").mockReturnValue(frame());
  dispatchEvent(new Event("blur"));
  await waitFor(() => expect(menu()).toBeNull());
});
