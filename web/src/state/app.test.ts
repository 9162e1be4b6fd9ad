// Frames to state: what each does, that they are drawn together, and what happens at the edges of a session's life.
import { expect, test, vi } from "vitest";

import type { Http } from "../api/http";
import type { LiveListener } from "../api/live";
import type { ServerFrame, SessionRow } from "../wire/names";
import { createApp } from "./app";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";
const AT = "2026-01-02T03:04:05.006Z";

function open(http: Partial<Http> = {}) {
  let listener: LiveListener | undefined;
  let flush = (): void => undefined;
  const live = { follow: vi.fn(), unfollow: vi.fn(), openApplet: vi.fn(), closeApplet: vi.fn(), writeAppletState: vi.fn() };
  const schedule = vi.fn((callback: () => void) => {
    flush = callback;
  });
  const app = createApp({
    http: http as Http,
    openLive(given) {
      listener = given;
      return live;
    },
    schedule,
  });
  const hear = (...frames: ServerFrame[]) => {
    for (const frame of frames) {
      listener?.frame(frame);
    }
    flush();
  };
  const followed = () => app.store.getState().followed.get(SESSION);
  return { app, live, schedule, hear, followed, listener: listener as LiveListener };
}

function started(seq: number): ServerFrame {
  return {
    type: "entry",
    session: SESSION,
    cursor: `1f.${seq}`,
    entry: { seq, at: AT, type: "turn.started", data: { turn: seq, interactionId: SESSION } },
  };
}

test("frames that come together are drawn together", () => {
  const { app, schedule, hear, followed } = open();
  const drawn = vi.fn();
  app.follow(SESSION);
  app.store.subscribe(drawn);
  hear(started(1), started(2), { type: "caught_up", session: SESSION, cursor: "1f.2" });
  expect(schedule).toHaveBeenCalledTimes(1);
  expect(drawn).toHaveBeenCalledTimes(1);
  expect(followed()?.seq).toBe(2);
  expect(followed()?.reading.kind).toBe("ready");
});

test("each greeting says what pieces of work are called", () => {
  const { app, hear } = open();
  expect(app.store.getState().worksLabel).toBe("Specs");
  hear({ type: "hello", incarnation: "1f", version: "1", specsLabel: "Projects" });
  expect(app.store.getState().worksLabel).toBe("Projects");
});

test("frames that nobody draws are folded all the same, and few of them wait", () => {
  const { app, schedule, listener, followed } = open();
  app.follow(SESSION);
  const drawn = vi.fn();
  app.store.subscribe(drawn);
  for (let seq = 1; seq <= 5_000; seq++) {
    listener.frame(started(seq));
  }
  expect(schedule).toHaveBeenCalledTimes(1);
  expect(followed()?.seq).toBe(4_000);
  expect(drawn).toHaveBeenCalledTimes(2);
});

test("a refusal ends the wait of what came before it, and the next frame waits anew", () => {
  const { app, schedule, listener, hear, followed } = open();
  app.follow(SESSION);
  listener.frame(started(1));
  listener.refused("another", { code: "session_not_found", message: "there is no such session", details: {} });
  expect(followed()?.seq).toBe(1);
  hear(started(2));
  hear(started(3));
  expect(followed()?.seq).toBe(3);
  expect(schedule).toHaveBeenCalledTimes(2);
});

test("frames are folded in their order, whatever comes between entries", () => {
  const { app, hear, followed } = open();
  app.follow(SESSION);
  app.follow("another");
  const elsewhere = { ...started(1), session: "another" } as ServerFrame;
  const reset: ServerFrame = { type: "reset", session: SESSION, reason: "other_incarnation", snapshot: null };
  hear(started(1), elsewhere, started(2), reset, started(1), started(2), started(3));
  expect(followed()?.transcript.turns.map(({ turn }) => turn)).toEqual([1, 2, 3]);
  expect(app.store.getState().followed.get("another")?.seq).toBe(1);
});

test("a session that is opened again goes on from where it was left", () => {
  const { app, live, hear } = open();
  app.follow(SESSION);
  hear(started(1));
  app.unfollow(SESSION);
  app.follow(SESSION);
  expect(live.follow.mock.calls).toEqual([
    [SESSION, null],
    [SESSION, "1f.1"],
  ]);
});

test("a reset empties the session; one by deletion says so", () => {
  const { app, hear, followed } = open();
  app.follow(SESSION);
  hear(started(1), { type: "reset", session: SESSION, reason: "other_incarnation", snapshot: null });
  expect(followed()?.seq).toBe(0);
  hear({ type: "reset", session: SESSION, reason: "deleted", snapshot: null });
  expect(followed()?.reading).toEqual({ kind: "deleted" });
});

test("a session that was deleted or refused is read from the start when it is opened again", () => {
  const { app, listener, followed } = open();
  app.follow(SESSION);
  listener.refused(SESSION, { code: "session_not_found", message: "there is no such session", details: {} });
  expect(followed()?.reading.kind).toBe("refused");
  app.follow(SESSION);
  expect(followed()?.reading.kind).toBe("loading");
});

test("what was read of a damaged session stays, also what was not drawn yet", () => {
  const { app, listener, hear, followed } = open();
  app.follow(SESSION);
  listener.frame(started(1));
  listener.refused(SESSION, { code: "session_damaged", message: "it is damaged from entry 2 on", details: {} });
  expect(followed()?.reading.kind).toBe("fenced");
  hear();
  expect(followed()?.reading.kind).toBe("fenced");
  expect(followed()?.transcript.turns).toHaveLength(1);
});

test("a session that a newer version wrote stays as far as it was read, and says so", () => {
  const { app, listener, followed } = open();
  app.follow(SESSION);
  listener.frame(started(1));
  listener.refused(SESSION, { code: "session_newer", message: "a newer version wrote it from entry 2 on", details: {} });
  expect(followed()?.reading).toMatchObject({ kind: "fenced", why: "newer" });
  expect(followed()?.transcript.turns).toHaveLength(1);
});

test("entries of a session that is not followed change nothing", () => {
  const { app, hear } = open();
  const before = app.store.getState();
  hear(started(1));
  expect(app.store.getState()).toBe(before);
});

test("signed out stays signed out", () => {
  const { app, listener } = open();
  app.signOut();
  listener.connection({ kind: "lost", lastHeardAt: null });
  expect(app.store.getState().connection.kind).toBe("signed_out");
});

test("only the last few sessions stay folded", () => {
  const { app } = open();
  for (let n = 0; n < 20; n++) {
    app.follow(`session-${n}`);
    app.unfollow(`session-${n}`);
  }
  expect([...app.store.getState().followed.keys()]).toEqual(Array.from({ length: 8 }, (_, n) => `session-${n + 12}`));
});

test("a row carries the count of unseen answers", () => {
  const { app, hear } = open();
  hear({ type: "row", removed: SESSION, unobservedCount: 3 });
  expect(app.store.getState().list.unobservedCount).toBe(3);
});

test("a list that begins anew leaves the open session its row", () => {
  const { app, hear } = open();
  const rowOf = (id: string, activeAt: string) => ({ id, activeAt, deletedAt: null }) as SessionRow;
  app.follow(SESSION);
  hear({ type: "session", session: SESSION, snapshot: rowOf(SESSION, AT) } as ServerFrame);
  hear({ type: "list", sessions: [rowOf("newer", "2026-02-02T03:04:05.006Z")], metaContexts: [], unobservedCount: 0, nextCursor: "c" } as ServerFrame);
  expect(app.store.getState().list.rows.get(SESSION)?.activeAt).toBe(AT);
});

function about(session: string, ...files: string[]): ServerFrame {
  return { type: "session.context", session, reason: "changed", setName: "files", context: { files }, facts: {} as never, proofs: {} };
}

test("what a session is about is what the server said last of that session", () => {
  const { app, hear, followed } = open();
  const other = "0190a8c0-0000-7000-8000-0000000000c2";
  app.follow(SESSION);
  expect(followed()?.context).toBeNull();
  hear(about(SESSION, "/a"), about(other, "/b"));
  expect(followed()?.context?.sets).toEqual({ files: ["/a"] });
  expect(app.store.getState().followed.has(other)).toBe(false);
  hear(started(1), about(SESSION));
  expect(followed()?.context?.sets).toEqual({ files: [] });
});

test("coming back to a session shows nothing of what it was about before", () => {
  const { app, hear, followed } = open();
  const other = "0190a8c0-0000-7000-8000-0000000000c2";
  app.follow(SESSION);
  hear(started(1), { type: "caught_up", session: SESSION, cursor: "1f.1" }, about(SESSION, "/a"));
  app.unfollow(SESSION);
  app.follow(other);
  expect(app.store.getState().followed.get(other)?.context).toBeNull();
  app.follow(SESSION);
  expect(followed()?.seq).toBe(1);
  expect(followed()?.context).toBeNull();
  hear(about(SESSION, "/c"), { type: "reset", session: SESSION, reason: "ahead", snapshot: null });
  expect(followed()?.context).toBeNull();
});

test("works come with pages and rows, and go; a session that is open loses its own", () => {
  const { app, hear, followed } = open();
  const works = () => [...app.store.getState().works.values()].map(({ name }) => name);
  const work = { id: "w", name: "Loom", project: "/home/ada", sessionIds: [SESSION], createdAt: AT, addedAt: AT };
  const says = (frame: object) => frame as ServerFrame;
  hear(says({ type: "list", sessions: [], metaContexts: [work], unobservedCount: 0, nextCursor: null }));
  expect(works()).toEqual(["Loom"]);
  app.follow(SESSION);
  hear(says({ type: "session", session: SESSION, snapshot: { id: SESSION, metaContextId: "w", metaContext: { id: "w", name: "Loom" }, previous: "before", queue: [] } }));
  expect(followed()?.work?.name).toBe("Loom");
  expect(followed()?.previous).toBe("before");
  hear(says({ type: "row", work: { ...work, name: "Power loom" }, unobservedCount: 0 }));
  expect(works()).toEqual(["Power loom"]);
  hear(says({ type: "row", removedWork: "w", unobservedCount: 0 }));
  expect(works()).toEqual([]);
  expect(followed()?.work).toBeNull();
});

test("sessions that are open are never let go of, however many", () => {
  const { app } = open();
  const ids = Array.from({ length: 12 }, (_, index) => `open-${index}`);
  for (const id of ids) {
    app.follow(id);
  }
  expect([...app.store.getState().followed.keys()]).toEqual(ids);
  for (const id of ids) {
    app.unfollow(id);
  }
  app.follow(SESSION);
  expect(app.store.getState().followed.size).toBe(8);
});

test("a page of the contents is asked for once, however many want it, and again only after a failure", async () => {
  const answers: ((answer: unknown) => void)[] = [];
  const toc = vi.fn(() => new Promise((resolve) => answers.push(resolve)));
  const { app, followed } = open({ toc } as unknown as Partial<Http>);
  app.follow(SESSION);
  const both = [app.readToc(SESSION, 0), app.readToc(SESSION, 0)];
  expect(toc.mock.calls).toEqual([[SESSION, "0"]]);
  answers[0]?.({ ok: false, failure: { kind: "unreachable" } });
  expect(await Promise.all(both)).toEqual([{ kind: "unreachable" }, { kind: "unreachable" }]);
  const again = app.readToc(SESSION, 0);
  const next = app.readToc(SESSION, 1);
  expect(toc.mock.calls.slice(1)).toEqual([[SESSION, "0"], [SESSION, "500"]]);
  answers[1]?.({ ok: true, value: { entries: [] } });
  answers[2]?.({ ok: true, value: { entries: [] } });
  expect(await Promise.all([again, next])).toEqual([null, null]);
  expect([...(followed()?.contents.read ?? [])]).toEqual([0, 1]);
  expect(await app.readToc(SESSION, 0)).toBeNull();
  expect(toc).toHaveBeenCalledTimes(3);
});

test("a list that somebody else asked for makes its rows known, and the page's own list reaches no further", () => {
  const { app, hear } = open();
  const rowOf = (id: string, activeAt: string) => ({ id, activeAt, deletedAt: null }) as SessionRow;
  hear({ type: "list", sessions: [rowOf("b", "2026-02-02T03:04:05.006Z")], metaContexts: [], unobservedCount: 0, nextCursor: "c" } as ServerFrame);
  const { extent } = app.store.getState().list;
  hear({ type: "list", id: "q", sessions: [rowOf("a", AT)], metaContexts: [], unobservedCount: 0, nextCursor: null } as unknown as ServerFrame);
  expect(app.store.getState().list.rows.has("a")).toBe(true);
  expect(app.store.getState().list.extent).toEqual(extent);
});
