// What the page does for an applet: tools by their grants, messages, links, and where it may lead.
import { beforeEach, expect, test, vi } from "vitest";
import { createStore } from "zustand/vanilla";

import type { App } from "../../state/app";
import { INITIAL_STATE } from "../../state/app";
import { NOT_READ } from "../../state/followed";
import type { AppletGrant } from "../../wire/applets";
import type { NewPrompt, SessionRow } from "../../wire/names";
import type { AppletAddress } from "./address";
import { appletHost, paramsOf, safeLink } from "./appletHost";
import { Asks } from "./asks";
import { Grants } from "./grants";
import { openQueue } from "./unsentState";

const done = <T>(value: T) => Promise.resolve({ ok: true as const, value });
let sessions = 0;

beforeEach(() => {
  sessions += 1;
});

function open({ granted = [] as AppletGrant[], past = false, http: more = {} } = {}) {
  const session = `s${sessions}`;
  const prompts: NewPrompt[] = [];
  const known = new Set(granted);
  const http = {
    appletGrants: () => done({ hash: "h", grants: [...known] }),
    grantApplet: vi.fn((_s: string, _a: string, { grant }: { grant: AppletGrant }) => {
      known.add(grant);
      return done({ hash: "h", grants: [...known] });
    }),
    applets: () => done([{ slug: "counter" }]),
    readAppletFile: vi.fn((_asking: object, path: string) => done({ path: `/w/${path}`, content: "hi", encoding: "utf-8", bytes: 2, cut: false, outside: false, hash: "f1" })),
    writeAppletFile: vi.fn(() => done({ path: "/w/a", bytes: 2, created: false, hash: "f2" })),
    listAppletFiles: vi.fn(() => done({ path: "/w", files: [] })),
    changes: vi.fn(() => done({ files: [] })),
    fileDiff: vi.fn(() => done({ hunks: [] })),
    nextSteps: () => done({ blocks: [{ id: "t1.n1", state: "open", label: "Go on" }, { id: "t1.n2", state: "used", label: "x" }] }),
    sendPrompt: (_s: string, prompt: NewPrompt) => {
      prompts.push(prompt);
      return done({});
    },
    writeAppletState: vi.fn(() => Promise.resolve({ ok: false, failure: { kind: "unreachable" } })),
    ...more,
  };
  const app = { http, store: createStore(() => INITIAL_STATE), writeAppletState: vi.fn(() => Promise.resolve({ ok: false, failure: { kind: "unreachable" } })) } as unknown as App;
  const asks = new Asks();
  const grants = new Grants({ http: app.http, session, applet: "counter", hash: "h", asks });
  const address: AppletAddress = { applet: "counter", params: { a: "1" }, past: null };
  const went: [AppletAddress, string][] = [];
  const onSent = vi.fn();
  const { queue } = openQueue(app, session, "counter");
  const host = appletHost({
    app,
    row: { id: session, title: "The loom" } as SessionRow,
    applet: "counter",
    hash: "h",
    past,
    asks,
    grants,
    queue,
    now: () => ({ followed: NOT_READ, address, writable: true }),
    go: (to, how) => went.push([to, how]),
    onError: vi.fn(),
    onSent,
  });
  const answer = async (yes: boolean) => {
    await vi.waitFor(() => expect(asks.current()).not.toBeNull());
    asks.answer(yes);
  };
  return { host, http, app, asks, prompts, went, onSent, answer, session, queue };
}

test.each([
  ["read_file", { path: "a" }, "files.read"],
  ["list_directory", {}, "files.read"],
  ["git_status", {}, "files.read"],
  ["git_diff", { path: "/w/a" }, "files.read"],
  ["write_file", { path: "a", content: "x" }, "files.write"],
])("%s does nothing before the person has granted it", async (name, args, grant) => {
  const { host, http, asks, answer } = open();
  const call = host.callTool(name, args);
  call.catch(() => undefined);
  await vi.waitFor(() => expect(asks.current()).toEqual({ kind: "grant", grant, text: null }));
  for (const route of [http.readAppletFile, http.listAppletFiles, http.changes, http.fileDiff, http.writeAppletFile]) {
    expect(route).not.toHaveBeenCalled();
  }
  await answer(false);
  await expect(call).rejects.toMatchObject({ data: { code: "not_granted" } });
});

test("a file comes with what names it, and is written over what was expected, in the name of this content", async () => {
  const { host, http, session } = open({ granted: ["files.read", "files.write"] });
  expect(await host.callTool("read_file", { path: "a" })).toEqual({ path: "/w/a", content: "hi", encoding: "utf-8", bytes: 2, cut: false, hash: "f1" });
  await host.callTool("write_file", { path: "a", content: "x", hash: "f1" });
  expect(http.writeAppletFile).toHaveBeenCalledWith({ session, applet: "counter", content: "h" }, { path: "a", text: "x", expected: "f1" });
});

test("another's edit is a conflict", async () => {
  const changed = { ok: false, failure: { kind: "refused", status: 412, code: "file_changed", message: "the file is another by now", details: {} } };
  const { host } = open({ granted: ["files.write"], http: { writeAppletFile: () => Promise.resolve(changed) } });
  await expect(host.callTool("write_file", { path: "a", content: "x", hash: "f1" })).rejects.toMatchObject({ data: { code: "conflict" } });
});

test.each([
  ["no_such_tool", {}, "unknown_tool"],
  ["constructor", {}, "unknown_tool"],
  ["read_file", {}, "bad_arguments"],
  ["write_file", { path: "a" }, "bad_arguments"],
  ["applet_state_set", { state: [] }, "bad_arguments"],
  ["applet_state_set", { state: {}, merge: {} }, "bad_arguments"],
  ["applet_state_set", { merge: {}, version: "1" }, "bad_arguments"],
])("%s %j is refused: %s", async (name, args, code) => {
  const { host } = open({ granted: ["files.read", "files.write"] });
  await expect(host.callTool(name, args)).rejects.toMatchObject({ data: { code } });
});

test("the list of applets and the plan need no grant", async () => {
  const { host } = open();
  expect(await host.callTool("applet_list", {})).toEqual({ applets: [{ slug: "counter" }] });
  expect(await host.callTool("session_plan", {})).toEqual({ title: "The loom", running: false, turns: 0, plan: [], offers: [{ block: "t1.n1", title: "Go on" }] });
});

test("as it was in a past turn it changes nothing", async () => {
  const { host } = open({ past: true, granted: ["files.read", "files.write", "message"] });
  await expect(host.callTool("applet_state_set", { merge: { a: 1 } })).rejects.toMatchObject({ data: { code: "read_only" } });
  await expect(host.callTool("write_file", { path: "a", content: "x" })).rejects.toMatchObject({ data: { code: "read_only" } });
  await expect(host.message("hello")).rejects.toMatchObject({ data: { code: "read_only" } });
  expect(await host.callTool("applet_state_get", {})).toEqual({ state: {}, version: 0 });
});

test("the first message is shown and asked about, later ones go and are told of, not too fast", async () => {
  const { host, http, prompts, onSent, asks, answer } = open();
  const first = host.message("run the tests");
  await vi.waitFor(() => expect(asks.current()).toEqual({ kind: "grant", grant: "message", text: "run the tests" }));
  expect(prompts).toEqual([]);
  await answer(true);
  await first;
  expect(prompts).toMatchObject([{ text: "run the tests", applet: { applet: "counter", hash: "h" } }]);
  expect(onSent).not.toHaveBeenCalled();
  await expect(host.message("at once")).rejects.toMatchObject({ data: { code: "busy" } });
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 2_000);
  await host.message("again");
  expect(prompts.map(({ text }) => text)).toEqual(["run the tests", "again"]);
  expect(onSent).toHaveBeenCalledExactlyOnceWith("again");
  // Taken back on another device.
  http.appletGrants = () => done({ hash: "h", grants: [] });
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 2_000);
  const third = host.message("and again");
  await answer(false);
  await expect(third).rejects.toMatchObject({ data: { code: "not_granted" } });
  await expect(host.message("x".repeat(40_000))).rejects.toMatchObject({ data: { code: "too_large" } });
});

test("one press sends the prompt that was shown, and no other", async () => {
  const { host, prompts, asks, answer } = open();
  const shown = host.message("say hello");
  await vi.waitFor(() => expect(asks.current()).toEqual({ kind: "grant", grant: "message", text: "say hello" }));
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 2_000);
  await expect(host.message("delete everything")).rejects.toMatchObject({ data: { code: "busy" } });
  await answer(true);
  await shown;
  expect(prompts.map(({ text }) => text)).toEqual(["say hello"]);
});

test("state that could not be sent goes with a message, over whichever way there was", async () => {
  const { host, http, app, prompts, queue } = open({ granted: ["message"] });
  const writing = host.callTool("applet_state_set", { merge: { n: 1 } });
  await writing;
  expect(app.writeAppletState).toHaveBeenCalledOnce();
  expect(http.writeAppletState).toHaveBeenCalledOnce();
  await host.message("look");
  expect(prompts).toMatchObject([{ text: "look", appletState: { applet: "counter", merge: { n: 1 } } }]);
  expect(queue.unsent).toBeNull();
});

test.each([
  ["and arrives", [], null],
  ["and is refused for itself", [{ ok: false, failure: { kind: "refused", status: 409, code: "queue_full", message: "full" } }], { n: 1 }],
])("a message that is refused with a state goes again without it, under its key, %s", async (_, more, unsent) => {
  const answers: object[] = [{ ok: false, failure: { kind: "refused", status: 409, code: "applet_state_unreadable", message: "no state" } }, ...more];
  const sent: NewPrompt[] = [];
  const sendPrompt = (_s: string, prompt: NewPrompt) => {
    sent.push(prompt);
    return Promise.resolve(answers.shift() ?? { ok: true, value: {} });
  };
  const { host, queue } = open({ granted: ["message"], http: { sendPrompt } });
  await queue.write({ merge: { n: 1 } });
  await host.message("look").catch((error: unknown) => expect(error).toMatchObject({ data: { code: "busy" } }));
  expect(sent.map(({ appletState }) => appletState)).toEqual([{ applet: "counter", merge: { n: 1 } }, undefined]);
  expect(sent[1]).toEqual({ text: "look", whenBusy: "queue", applet: { applet: "counter", hash: "h" }, key: sent[0]?.key });
  expect(queue.unsent).toEqual(unsent);
});

test.each([
  ["read_file", { path: "a" }],
  ["list_directory", {}],
  ["write_file", { path: "a", content: "x" }],
])("a grant that was taken back on another device is asked for by the next %s", async (name, args) => {
  const refused = () => Promise.resolve({ ok: false, failure: { kind: "refused", status: 403, code: "not_granted", message: "not granted" } });
  const { host, http, asks, answer } = open({ granted: ["files.read", "files.write"], http: { readAppletFile: refused, listAppletFiles: refused, writeAppletFile: refused } });
  // It was known here before that.
  await host.callTool("git_status", {});
  http.appletGrants = () => done({ hash: "h", grants: [] });
  await expect(host.callTool(name, args)).rejects.toMatchObject({ data: { code: "not_granted" } });
  expect(asks.current()).toBeNull();
  const next = host.callTool(name, args);
  next.catch(() => undefined);
  await answer(false);
  await expect(next).rejects.toMatchObject({ data: { code: "not_granted" } });
});

test("a link is opened by the person alone", async () => {
  const { host, asks, answer } = open();
  const opening = host.openLink("https://example.test/a?b");
  expect(asks.current()).toEqual({ kind: "link", url: "https://example.test/a?b" });
  await answer(false);
  await expect(opening).rejects.toMatchObject({ data: { code: "not_granted" } });
});

test.each(["http://x.test", "javascript:alert(1)", "data:text/html,x", "//x.test", "x", "https://user@x.test/", "https://x:y@x.test/", `https://x.test/${"a".repeat(9_000)}`])("%s is no link to open", (url) => {
  expect(() => safeLink(url)).toThrow(expect.objectContaining({ data: { code: "bad_arguments" } }));
});

test("it leads to other applets and changes its own parameters, and nothing else of the address", () => {
  const { host, went } = open();
  host.openApplet("text-editor", { path: "/a" });
  host.setParams({ b: "2" }, "replace");
  expect(went).toEqual([
    [{ applet: "text-editor", params: { path: "/a" }, past: null }, "push"],
    [{ applet: "counter", params: { b: "2" }, past: null }, "replace"],
  ]);
  for (const applet of ["../x", "", "Counter", "a&b=c"]) {
    expect(() => host.openApplet(applet, {})).toThrow(expect.objectContaining({ data: { code: "bad_arguments" } }));
  }
  for (let more = 0; more < 20; more++) {
    try {
      host.setParams({ b: String(more) }, "push");
    } catch {
      // Too many at once.
    }
  }
  expect(went).toHaveLength(10);
});

test.each([{ applet: "x" }, { _past: "t1" }, { "": "x" }, { a: 1 }, { a: "x\ny" }, { a: "x".repeat(3_000) }, Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`p${n}`, ""]))])("%j are no parameters", (given) => {
  expect(() => paramsOf(given)).toThrow(expect.objectContaining({ data: { code: "bad_arguments" } }));
});
