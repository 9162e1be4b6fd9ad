// The live client against a WebSocket that the test plays: resuming, gaps, resets, and the ways a connection ends.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { ClientFrame, ServerFrame, SessionRow } from "../wire/names";
import type { Connection } from "./live";
import { LiveClient } from "./live";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";
const AT = "2026-01-02T03:04:05.006Z";

/** The browser's socket, as far as the client uses it; the test is the server. */
class FakeSocket {
  static readonly all: FakeSocket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: ClientFrame[] = [];
  closed = false;
  readonly url: string;

  constructor(url: string) {
    this.url = url;
    FakeSocket.all.push(this);
  }

  static get last(): FakeSocket {
    const socket = FakeSocket.all.at(-1);
    if (!socket) {
      throw new Error("no socket was opened");
    }
    return socket;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as ClientFrame);
  }

  close(): void {
    this.closed = true;
  }

  /** The server accepts the connection and greets. */
  greet(): void {
    this.onopen?.();
    this.say({ type: "hello", incarnation: "1f", version: "1", specsLabel: "Specs" });
  }

  say(...frames: ServerFrame[]): void {
    for (const frame of frames) {
      this.onmessage?.({ data: JSON.stringify(frame) });
    }
  }

  drop(code = 1006): void {
    this.onclose?.({ code });
  }

  /** The frames after the first, which shows the proof. */
  get asked(): Omit<ClientFrame, "id">[] {
    return this.sent.slice(1).map(({ id: _, ...request }) => request);
  }
}

function open(options: { proof?: string | null; isSignedOut?: () => Promise<boolean> } = {}) {
  const heard: ServerFrame[] = [];
  const connections: Connection[] = [];
  const refused = vi.fn();
  const { proof = "proof", isSignedOut = () => Promise.resolve(false) } = options;
  const live = new LiveClient(
    { url: "ws://127.0.0.1:1/api/v1/live", proof: () => proof, isSignedOut },
    { frame: (frame) => heard.push(frame), connection: (connection) => connections.push(connection), refused },
  );
  clients.push(live);
  live.start();
  const seqs = () => heard.flatMap((frame) => (frame.type === "entry" ? [frame.entry.seq] : []));
  return { live, heard, seqs, connections, refused };
}

const clients: LiveClient[] = [];
const entry = (seq: number): ServerFrame => ({
  type: "entry",
  session: SESSION,
  cursor: `1f.${seq}`,
  entry: { seq, at: AT, type: "session.observed", data: {} },
});
const begun: ServerFrame = { type: "session", session: SESSION, snapshot: { ...({} as SessionRow), queue: [], openRequests: [], cursor: "1f.9" } };
const caughtUp = (seq: number): ServerFrame => ({ type: "caught_up", session: SESSION, cursor: `1f.${seq}` });
const follow = (after?: string) => ({ type: "follow", session: SESSION, ...(after === undefined ? { turns: 30 } : { after }), batch: true });

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(1);
  vi.stubGlobal("WebSocket", FakeSocket);
  FakeSocket.all.length = 0;
});

afterEach(() => {
  for (const client of clients.splice(0)) {
    client.stop();
  }
  vi.useRealTimers();
});

/** Lets the client's own waiting be over. */
async function retry(): Promise<FakeSocket> {
  const before = FakeSocket.all.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(FakeSocket.all.length).toBeGreaterThan(before);
  return FakeSocket.last;
}

test("the proof is the first frame, and nothing is asked before the greeting", () => {
  const { live, connections } = open();
  live.follow(SESSION, null);
  FakeSocket.last.onopen?.();
  expect(FakeSocket.last.sent).toEqual([{ type: "auth", id: "0", proof: "proof" }]);
  FakeSocket.last.say({ type: "hello", incarnation: "1f", version: "1", specsLabel: "Specs" });
  expect(FakeSocket.last.asked).toEqual([follow()]);
  expect(connections).toEqual([{ kind: "live" }]);
});

test("a follow of the newest turns begins where the server says, and nowhere else", async () => {
  const { live, seqs } = open();
  const window = { after: "1f.40", agent: { state: "ready" as const, options: [], commands: [], methods: [] } };
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  FakeSocket.last.say({ ...begun, window });
  // A gap at the beginning is one like any other.
  FakeSocket.last.say(entry(42));
  expect(FakeSocket.last.asked.at(-1)).toEqual(follow("1f.40"));
  FakeSocket.last.say(begun, entry(40), entry(41), entry(42), caughtUp(42));
  expect(seqs()).toEqual([41, 42]);
  FakeSocket.last.drop();
  const socket = await retry();
  socket.greet();
  expect(socket.asked).toEqual([follow("1f.42")]);
  // Whoever is reset begins with the newest turns again.
  socket.say({ type: "reset", session: SESSION, reason: "other_incarnation", snapshot: "2f.9" });
  expect(socket.asked.at(-1)).toEqual(follow());
  socket.say({ ...begun, window: { ...window, after: "2f.7" } });
  socket.say({ ...entry(8), cursor: "2f.8" } as ServerFrame);
  expect(seqs()).toEqual([41, 42, 8]);
});

test("entries that come together are told one by one, each once, and a gap before them is asked for", () => {
  const { live, heard, seqs } = open();
  const together = (...all: number[]): ServerFrame => ({
    type: "entries",
    session: SESSION,
    cursor: `1f.${all.at(-1)}`,
    entries: all.map((seq) => ({ seq, at: AT, type: "session.observed", data: {} })),
  });
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  FakeSocket.last.say(begun, together(1, 2, 3));
  expect(heard.flatMap((frame) => (frame.type === "entry" ? [frame.cursor] : []))).toEqual(["1f.1", "1f.2", "1f.3"]);
  FakeSocket.last.say(together(2, 3, 4));
  expect(seqs()).toEqual([1, 2, 3, 4]);
  FakeSocket.last.say(together(6, 7));
  expect(seqs()).toEqual([1, 2, 3, 4]);
  expect(FakeSocket.last.asked).toEqual([follow(), follow("1f.4")]);
});

test("after a broken connection every follow goes on from its last entry, and repeats are dropped", async () => {
  const { live, seqs, connections } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  FakeSocket.last.say(begun, entry(1), entry(2), caughtUp(2));
  FakeSocket.last.drop();
  expect(connections.at(-1)).toMatchObject({ kind: "lost" });
  const socket = await retry();
  socket.greet();
  expect(socket.asked).toEqual([follow("1f.2")]);
  socket.say(begun, entry(2), entry(3));
  expect(seqs()).toEqual([1, 2, 3]);
});

test("a follow begins after the cursor it is given", () => {
  const { live, seqs } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, "1f.7");
  expect(FakeSocket.last.asked).toEqual([follow("1f.7")]);
  FakeSocket.last.say(begun, entry(7), entry(8));
  expect(seqs()).toEqual([8]);
});

test("a gap is asked for again, once, and never passed on", () => {
  const { live, seqs } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  FakeSocket.last.say(begun, entry(1), entry(3), entry(4));
  expect(FakeSocket.last.asked).toEqual([follow(), follow("1f.1")]);
  FakeSocket.last.say(begun, entry(2), entry(3), entry(4), caughtUp(4));
  expect(seqs()).toEqual([1, 2, 3, 4]);
});

test("a progress mark beyond the last entry is a gap too", () => {
  const { live, heard } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  FakeSocket.last.say(begun, entry(1), caughtUp(1), { type: "progress", session: SESSION, upTo: "1f.1" });
  expect(FakeSocket.last.asked).toHaveLength(1);
  FakeSocket.last.say({ type: "progress", session: SESSION, upTo: "1f.2" });
  expect(FakeSocket.last.asked).toEqual([follow(), follow("1f.1")]);
  expect(heard.filter(({ type }) => type === "progress")).toHaveLength(1);
});

test("a reset is passed on and the session is read from the start; the refusal that comes with it is not", () => {
  const { live, heard, seqs, refused } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, "aa.7");
  FakeSocket.last.say(
    { type: "reset", session: SESSION, reason: "other_incarnation", snapshot: "1f.9" },
    { type: "error", id: "1", error: { code: "cursor_reset", message: "the cursor leads nowhere", details: {} } },
  );
  expect(heard.map(({ type }) => type)).toEqual(["hello", "reset"]);
  expect(FakeSocket.last.asked).toEqual([follow("aa.7"), follow()]);
  FakeSocket.last.say(begun, entry(1));
  expect(seqs()).toEqual([1]);
  expect(refused).not.toHaveBeenCalled();
});

test("a deleted session is let go of", async () => {
  const { live, heard } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  FakeSocket.last.say(begun, { type: "reset", session: SESSION, reason: "deleted", snapshot: null }, entry(1));
  expect(heard.map(({ type }) => type)).toEqual(["hello", "session", "reset"]);
  FakeSocket.last.drop();
  const socket = await retry();
  socket.greet();
  expect(socket.asked).toEqual([]);
});

test("a refused follow is told to the listener and not asked for again", async () => {
  const { live, refused } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  const error = { code: "session_not_found", message: "there is no such session", details: {} };
  FakeSocket.last.say({ type: "error", id: "1", error });
  expect(refused).toHaveBeenCalledExactlyOnceWith(SESSION, error);
  FakeSocket.last.drop();
  const socket = await retry();
  socket.greet();
  expect(socket.asked).toEqual([]);
});

test("a follow that breaks off is told to the listener", () => {
  const { live, refused } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  const error = { code: "session_damaged", message: "the session is damaged at 7", details: {} };
  FakeSocket.last.say(begun, entry(1), { type: "error", session: SESSION, error });
  expect(refused).toHaveBeenCalledExactlyOnceWith(SESSION, error);
  FakeSocket.last.say({ type: "error", error });
  expect(refused).toHaveBeenCalledOnce();
});

test("what comes of a session after it was unfollowed is dropped", () => {
  const { live, heard } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  live.unfollow(SESSION);
  FakeSocket.last.say(begun, entry(1), { type: "preview", session: SESSION, turn: 1, kind: "text", block: 0, text: "x" });
  expect(heard.map(({ type }) => type)).toEqual(["hello"]);
  expect(FakeSocket.last.asked.at(-1)).toEqual({ type: "unfollow", session: SESSION });
});

test("tries come ever later, up to a limit, and start anew after a greeting", async () => {
  open();
  const waits: number[] = [];
  for (let attempt = 0; attempt < 8; attempt++) {
    const before = FakeSocket.all.length;
    FakeSocket.last.drop();
    await vi.advanceTimersByTimeAsync(0);
    let waited = 0;
    while (FakeSocket.all.length === before) {
      await vi.advanceTimersByTimeAsync(50);
      waited += 50;
    }
    waits.push(waited);
  }
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
  FakeSocket.last.greet();
  const before = FakeSocket.all.length;
  FakeSocket.last.drop();
  await vi.advanceTimersByTimeAsync(250);
  expect(FakeSocket.all.length).toBe(before + 1);
});

test("the network's return ends the waiting", async () => {
  open();
  FakeSocket.last.drop();
  await vi.advanceTimersByTimeAsync(0);
  window.dispatchEvent(new Event("online"));
  expect(FakeSocket.all).toHaveLength(2);
  window.dispatchEvent(new Event("online"));
  expect(FakeSocket.all).toHaveLength(2);
});

test("a silent connection is asked whether it lives, and given up when it does not answer", async () => {
  const { connections } = open();
  FakeSocket.last.greet();
  const socket = FakeSocket.last;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(socket.asked).toEqual([{ type: "ping" }]);
  socket.say({ type: "ack", id: "1" });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(socket.closed).toBe(false);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(socket.closed).toBe(true);
  expect(connections).toContainEqual({ kind: "lost", lastHeardAt: expect.any(Number) as number });
});

test("a bye and its close lead to a new connection", async () => {
  const { live, connections } = open();
  FakeSocket.last.greet();
  live.follow(SESSION, null);
  FakeSocket.last.say(begun, entry(1), { type: "bye", reason: "stopping", cursors: { [SESSION]: "1f.1" } });
  FakeSocket.last.drop(1001);
  const socket = await retry();
  socket.greet();
  expect(socket.asked).toEqual([follow("1f.1")]);
  expect(connections.map(({ kind }) => kind)).toEqual(["live", "lost", "live"]);
});

test("a connection that is refused for want of a credential ends in signed out", async () => {
  const { connections } = open({ isSignedOut: () => Promise.resolve(true) });
  FakeSocket.last.drop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(connections.at(-1)).toEqual({ kind: "signed_out" });
  expect(FakeSocket.all).toHaveLength(1);
});

test("a credential that is revoked under an open connection ends in signed out", async () => {
  const { connections } = open({ isSignedOut: () => Promise.resolve(true) });
  FakeSocket.last.greet();
  FakeSocket.last.drop(4003);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(connections.at(-1)).toEqual({ kind: "signed_out" });
});

test("without a proof no connection is made", () => {
  const { connections } = open({ proof: null });
  expect(connections).toEqual([{ kind: "signed_out" }]);
  expect(FakeSocket.all).toHaveLength(0);
});

test("words that are no frame end the connection, not the page", async () => {
  open();
  FakeSocket.last.greet();
  FakeSocket.last.onmessage?.({ data: "<html>" });
  expect(FakeSocket.last.closed).toBe(true);
  await retry();
});

test("an open applet is opened again with each connection; what comes after it was closed is dropped", async () => {
  const { live, heard } = open();
  const wish = { type: "applet_open", session: SESSION, applet: "counter", params: { a: "1" } };
  live.openApplet(SESSION, "counter", { a: "1" });
  FakeSocket.last.greet();
  expect(FakeSocket.last.asked).toEqual([wish]);
  FakeSocket.last.drop();
  (await retry()).greet();
  expect(FakeSocket.last.asked).toEqual([wish]);
  const state = (applet: string): ServerFrame => ({ type: "applet_state", session: SESSION, applet, state: {}, version: 1 });
  const unreadable: ServerFrame = { type: "applet_state_unreadable", session: SESSION, applet: "counter", message: "no object" };
  FakeSocket.last.say(unreadable, { ...unreadable, applet: "other" });
  expect(heard.at(-1)).toEqual(unreadable);
  FakeSocket.last.say(state("counter"), state("other"), { type: "applet_changed", session: SESSION, applet: "counter", hash: "h2" });
  live.closeApplet(SESSION);
  live.closeApplet(SESSION);
  FakeSocket.last.say(state("counter"));
  expect(heard.slice(-2)).toEqual([state("counter"), { type: "applet_changed", session: SESSION, applet: "counter", hash: "h2" }]);
  expect(FakeSocket.last.asked).toEqual([wish, { type: "applet_close", session: SESSION }]);
});

test("a write of an applet's state has one answer: the server's, or that there is no connection any more", async () => {
  const { live, refused } = open();
  expect(await live.writeAppletState(SESSION, "counter", { merge: { a: 1 } })).toEqual({ ok: false, failure: { kind: "unreachable" } });
  FakeSocket.last.greet();
  const write = () => live.writeAppletState(SESSION, "counter", { merge: { a: 1 }, writer: "w" });
  const idOfLast = () => FakeSocket.last.sent.at(-1)?.id ?? "";
  const taken = write();
  expect(FakeSocket.last.asked.at(-1)).toEqual({ type: "applet_state", session: SESSION, applet: "counter", merge: { a: 1 }, writer: "w" });
  FakeSocket.last.say({ type: "ack", id: idOfLast(), result: { version: 7 } as never });
  expect(await taken).toEqual({ ok: true, value: { version: 7 } });
  const conflicting = write();
  const error = { code: "applet_state_conflict", message: "another version", details: { version: 9 } as never };
  FakeSocket.last.say({ type: "error", id: idOfLast(), session: SESSION, error });
  expect(await conflicting).toEqual({ ok: false, failure: { kind: "refused", status: 0, ...error } });
  expect(refused).not.toHaveBeenCalled();
  const lost = write();
  FakeSocket.last.drop();
  expect(await lost).toEqual({ ok: false, failure: { kind: "unreachable" } });
});
