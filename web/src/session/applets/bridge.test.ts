// The page's side of the bridge: whose messages count, what each method does, and what a frame can not make the page do.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { BridgeHost, HostContext } from "./bridge";
import { Bridge, FLOOD_A_SECOND, MOST_BYTES, MOST_CALLS_A_SECOND, MOST_MESSAGES_A_SECOND, MOST_WAITING } from "./bridge";
import { Refusal } from "./refusal";

interface Posted {
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: { isError?: boolean; structuredContent?: object };
  error?: { code: number; data?: { code: string } };
}

const CONTEXT: HostContext = {
  theme: "dark",
  displayMode: "inline",
  locale: "en",
  styles: { variables: {} },
  throughline: { applet: "counter", title: "Counter", session: "s", params: {}, hash: "h", past: false },
};

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  bridges.splice(0).forEach((bridge) => bridge.close());
  vi.useRealTimers();
});

const bridges: Bridge[] = [];

function open(parts: Partial<BridgeHost> = {}) {
  const posted: Posted[] = [];
  const frame = { postMessage: (message: Posted) => posted.push(message) } as unknown as Window;
  const host: BridgeHost = {
    context: () => CONTEXT,
    ready: vi.fn(),
    callTool: vi.fn(() => Promise.resolve({})),
    message: vi.fn(() => Promise.resolve()),
    openLink: vi.fn(() => Promise.resolve()),
    openApplet: vi.fn(),
    setParams: vi.fn(),
    failed: vi.fn(),
    flooded: vi.fn(),
    ...parts,
  };
  const bridge = new Bridge(() => frame, host);
  bridges.push(bridge);
  const say = async (data: unknown, source: unknown = frame) => {
    const event = new MessageEvent("message", { data });
    Object.defineProperty(event, "source", { value: source });
    window.dispatchEvent(event);
    await vi.advanceTimersByTimeAsync(0);
  };
  const ask = async (method: string, params?: object, id: number | string = 1) => {
    await say({ jsonrpc: "2.0", id, method, params });
    return posted.find((message) => message.id === id);
  };
  const codeOf = (answer: Posted | undefined) => (answer?.result?.structuredContent as { code?: string } | undefined)?.code ?? answer?.error?.data?.code ?? answer?.error?.code;
  return { bridge, host, posted, say, ask, codeOf };
}

test("it greets with what the applet is, and says that it is ready once", async () => {
  const { host, ask, say } = open();
  expect((await ask("ui/initialize"))?.result).toMatchObject({ protocolVersion: "2026-01-26", hostContext: CONTEXT });
  await say({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  await say({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  expect(host.ready).toHaveBeenCalledOnce();
});

test("a message of another window, or of none, is as if it never came", async () => {
  const { host, posted, say } = open();
  const forged = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "write_file", arguments: {} } };
  for (const source of [window, null, { postMessage: vi.fn() }]) {
    await say(forged, source);
    await say({ jsonrpc: "2.0", method: "ui/notifications/initialized" }, source);
  }
  expect([host.callTool, host.ready].map((call) => vi.mocked(call).mock.calls.length)).toEqual([0, 0]);
  expect(posted).toEqual([]);
});

test("what is no JSON-RPC is not answered; an unknown method is refused as the protocol has it", async () => {
  const { posted, say, ask } = open();
  for (const data of [null, "x", 7, [], {}, { jsonrpc: "1.0", id: 1, method: "ui/initialize" }, { jsonrpc: "2.0", id: {}, method: "ui/initialize" }]) {
    await say(data);
  }
  expect(posted).toEqual([]);
  expect((await ask("constructor"))?.error?.code).toBe(-32601);
});

test("each method reaches the host with what it was given", async () => {
  const { host, ask } = open({ callTool: () => Promise.resolve({ version: 3 }) });
  expect((await ask("tools/call", { name: "applet_state_get", arguments: {} }, 1))?.result).toEqual({ content: [{ type: "text", text: '{"version":3}' }], structuredContent: { version: 3 } });
  await ask("ui/message", { role: "user", content: [{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }] }, 2);
  await ask("ui/open-link", { url: "https://x.test" }, 3);
  await ask("throughline/open-applet", { applet: "counter", params: { a: "1" } }, 4);
  await ask("throughline/params", { params: { b: "2" }, history: "push" }, 5);
  expect(host.message).toHaveBeenCalledWith("a\nb");
  expect(host.openLink).toHaveBeenCalledWith("https://x.test");
  expect(host.openApplet).toHaveBeenCalledWith("counter", { a: "1" });
  expect(host.setParams).toHaveBeenCalledWith({ b: "2" }, "push");
});

test("a tool's refusal is its result, another method's an error; an error of the page says nothing of itself", async () => {
  const refuse = () => Promise.reject(new Refusal("conflict", "it has another version", { version: 9 }));
  const { ask } = open({ callTool: refuse, message: refuse, openLink: () => Promise.reject(new Error("secret")) });
  expect((await ask("tools/call", { name: "x" }, 1))?.result).toEqual({ isError: true, content: [{ type: "text", text: "it has another version" }], structuredContent: { code: "conflict", version: 9 } });
  expect((await ask("ui/message", { content: [{ text: "x" }] }, 2))?.error).toMatchObject({ data: { code: "conflict" } });
  expect(JSON.stringify(await ask("ui/open-link", { url: "https://x" }, 3))).not.toContain("secret");
});

test.each([
  ["tools/call", {}],
  ["tools/call", { name: "x", arguments: 7 }],
  ["ui/message", { content: "x" }],
  ["ui/message", { content: [{ type: "text", text: "  " }] }],
  ["ui/open-link", { url: 1 }],
  ["throughline/open-applet", {}],
])("bad arguments are refused: %s %j", async (method, params) => {
  const { ask, codeOf } = open();
  expect(codeOf(await ask(method, params))).toBe("bad_arguments");
});

test("a message that is too long is refused without being read", async () => {
  const { host, ask, say, codeOf } = open();
  expect(codeOf(await ask("tools/call", { name: "x", arguments: { text: "x".repeat(MOST_BYTES) } }))).toBe("too_large");
  const round: { self?: unknown } = {};
  round.self = round;
  expect(codeOf(await ask("tools/call", { name: "x", arguments: round }, 2))).toBe("too_large");
  await say({ jsonrpc: "2.0", method: "throughline/error", params: { message: "x".repeat(MOST_BYTES) } });
  expect(host.callTool).not.toHaveBeenCalled();
  expect(host.failed).not.toHaveBeenCalled();
});

test("calls beyond those of a second are refused, and go on in the next; writes of the state do not count among them", async () => {
  const { host, ask, codeOf } = open();
  for (let id = 1; id <= MOST_CALLS_A_SECOND; id++) {
    expect(codeOf(await ask("tools/call", { name: "read_file", arguments: {} }, id))).toBeUndefined();
  }
  expect(codeOf(await ask("tools/call", { name: "read_file", arguments: {} }, "more"))).toBe("busy");
  expect(codeOf(await ask("tools/call", { name: "applet_state_set", arguments: {} }, "write"))).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(codeOf(await ask("tools/call", { name: "read_file", arguments: {} }, "later"))).toBeUndefined();
  expect(host.callTool).toHaveBeenCalledTimes(MOST_CALLS_A_SECOND + 2);
});

test("no more calls wait than may", async () => {
  const { host, ask, codeOf } = open({ callTool: vi.fn(() => new Promise<object>(() => undefined)) });
  for (let id = 1; id <= MOST_WAITING; id++) {
    await ask("tools/call", { name: "applet_state_set" }, id);
  }
  expect(codeOf(await ask("tools/call", { name: "applet_state_set" }, "more"))).toBe("busy");
  expect(host.callTool).toHaveBeenCalledTimes(MOST_WAITING);
});

test("errors come cut, and a flood of them ends", async () => {
  const { host, say } = open();
  for (let count = 0; count < 60; count++) {
    await say({ jsonrpc: "2.0", method: "throughline/error", params: { message: "m".repeat(5_000), stack: 7 } });
  }
  expect(host.failed).toHaveBeenCalledTimes(50);
  expect(host.failed).toHaveBeenLastCalledWith({ message: "m".repeat(2_000), stack: "" });
});

test("a flood of messages is not read beyond those of a second", async () => {
  const { say, ask } = open();
  for (let sent = 0; sent < MOST_MESSAGES_A_SECOND; sent++) {
    void say({ jsonrpc: "2.0", method: "throughline/nothing" });
  }
  expect(await ask("ui/initialize", {}, "more")).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await ask("ui/initialize", {}, "later")).toBeDefined();
});

test("a frame that floods the page is given up, once", async () => {
  const { say, host } = open();
  for (let sent = 0; sent < FLOOD_A_SECOND + 2; sent++) {
    expect(host.flooded).not.toHaveBeenCalledTimes(2);
    void say({ jsonrpc: "2.0", method: "throughline/nothing" });
  }
  await vi.advanceTimersByTimeAsync(0);
  expect(host.flooded).toHaveBeenCalledOnce();
});

test("state and theme go to a frame that listens; before it does, nothing is sent", async () => {
  const { bridge, posted, say } = open();
  bridge.sendState({ n: 1 }, 1);
  bridge.sendContext({ theme: "light" });
  expect(posted).toEqual([]);
  await say({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  bridge.sendState({ n: 1 }, 1);
  bridge.sendContext({ throughline: { params: { a: "1" } } });
  expect(posted.map(({ method, params }) => [method, params])).toEqual([
    ["throughline/state", { state: { n: 1 }, version: 1 }],
    ["ui/notifications/host-context-changed", { throughline: { params: { a: "1" } } }],
  ]);
});

test("a frame that goes is asked first, and is not waited for when it says nothing", async () => {
  const { bridge, posted, say } = open();
  await bridge.teardown();
  expect(posted).toEqual([]);
  await say({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  const answered = vi.fn();
  void bridge.teardown().then(answered);
  expect(posted.at(-1)?.method).toBe("ui/resource-teardown");
  await say({ jsonrpc: "2.0", id: posted.at(-1)?.id, result: {} }, window);
  expect(answered).not.toHaveBeenCalled();
  await say({ jsonrpc: "2.0", id: posted.at(-1)?.id, result: {} });
  expect(answered).toHaveBeenCalledOnce();
  const late = vi.fn();
  void bridge.teardown().then(late);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(late).toHaveBeenCalledOnce();
});

test.each<[string, unknown, string]>([
  ["a number that no JSON has", { n: 1n }, "bad_arguments"],
  ["a map", { n: new Map() }, "bad_arguments"],
  ["an array with nothing in it, and very long", { n: new Array(2 ** 27) }, "too_large"],
  ["what is nested without end", JSON.parse("[".repeat(500) + "]".repeat(500)), "too_large"],
])("%s is refused before it is read", async (_, given, code) => {
  const { ask, host } = open();
  await ask("ui/initialize", {}, "first");
  expect(await ask("tools/call", { name: "applet_state_set", arguments: { merge: given } }, "bad")).toMatchObject({ result: { isError: true, structuredContent: { code } } });
  expect(host.callTool).not.toHaveBeenCalled();
});

test("a frame that is told to go may write what it has left, and nothing else", async () => {
  const { bridge, say, ask, host } = open();
  await say({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
  void bridge.teardown();
  expect(await ask("throughline/open-applet", { applet: "counter", params: {} }, "back")).toMatchObject({ error: { data: { code: "busy" } } });
  expect(host.openApplet).not.toHaveBeenCalled();
  await ask("tools/call", { name: "applet_state_set", arguments: { merge: { n: 1 } } }, "last");
  expect(host.callTool).toHaveBeenCalledOnce();
});
