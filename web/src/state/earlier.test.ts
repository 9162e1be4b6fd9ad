// Turns read in pages: whatever is read in whatever order shows the same as the whole.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";

import type { Http } from "../api/http";
import type { LiveListener } from "../api/live";
import type { Entry, ServerFrame, Session, Timestamp } from "../wire/names";
import { createApp } from "./app";
import { findEarlier, foldPage, missingPages, NOTHING_EARLIER, putPage, removeOutput } from "./earlier";
import { handOversAfter, readToTheEnd, turnAt, turnCount } from "./followed";
import { applyToTranscript, EMPTY_TRANSCRIPT } from "./transcript";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";
const FOLDER = path.resolve(import.meta.dirname, "../../../fixtures/transcripts");
const fixtures = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => JSON.parse(readFileSync(path.join(FOLDER, file), "utf8")) as { name: string; entries: Entry[] });

/** One long log: every fixture again and again, its turns and requests numbered on. */
function longLog(turns: number): Entry[] {
  const log: Entry[] = [];
  let shift = { turn: 0, request: 0 };
  while (shift.turn < turns) {
    for (const { entries } of fixtures) {
      const last = { ...shift };
      for (const entry of entries) {
        const data = { ...entry.data } as { turn?: number; request?: number };
        for (const name of ["turn", "request"] as const) {
          const number = data[name];
          if (number !== undefined) {
            data[name] = number + shift[name];
            // Some tell of a turn that never began.
            if (name === "request" || entry.type === "turn.started") {
              last[name] = Math.max(last[name], data[name]);
            }
          }
        }
        log.push({ ...entry, seq: log.length + 1, data } as Entry);
      }
      shift = last;
    }
  }
  return log;
}

const log = longLog(120);
const starts = log.flatMap((entry) => (entry.type === "turn.started" ? [entry.seq] : []));
const { turns: whole, handOvers } = applyToTranscript(EMPTY_TRANSCRIPT, log);
const answeredAt = new Map<number, Timestamp>(log.flatMap((entry) => (entry.type === "permission.answered" ? [[entry.data.request, entry.at]] : [])));

/** As the server does: what is told between two turns belongs to the first of them; a few at a time. */
function entriesOfTurns(_: string, from: number, to: number, after: string | null) {
  const first = Math.max((starts[from - 1] ?? 1) - 1, after === null ? 0 : Number(after));
  const end = starts[to] === undefined ? log.length : starts[to] - 1;
  const entries = log.slice(first, Math.min(first + 50, end));
  const last = entries.at(-1)?.seq ?? end;
  return Promise.resolve({ ok: true as const, value: { entries, nextCursor: last < end ? String(last) : null } });
}

function open(newest: number, read = entriesOfTurns as unknown as Http["entriesOfTurns"]) {
  let listener: LiveListener | undefined;
  let flush = (): void => undefined;
  const app = createApp({
    http: { entriesOfTurns: read } as Http,
    openLive(given) {
      listener = given;
      return { follow: vi.fn(), unfollow: vi.fn(), openApplet: vi.fn(), closeApplet: vi.fn(), writeAppletState: vi.fn() };
    },
    schedule(callback) {
      flush = callback;
    },
  });
  app.follow(SESSION);
  const after = newest >= starts.length ? 0 : (starts[starts.length - newest] ?? 1) - 1;
  const agent = { state: "ready" as const, options: [], commands: [], methods: [] };
  const frames: ServerFrame[] = [
    { type: "session", session: SESSION, snapshot: { queue: [] } as unknown as Session, window: { after: `1f.${after}`, agent } },
    ...log.slice(after).map((entry): ServerFrame => ({ type: "entry", session: SESSION, cursor: `1f.${entry.seq}`, entry })),
    { type: "caught_up", session: SESSION, cursor: `1f.${log.length}` },
  ];
  for (const frame of frames) {
    listener?.frame(frame);
  }
  flush();
  const followed = () => {
    const now = app.store.getState().followed.get(SESSION);
    if (now === undefined) {
      throw new Error("it is not followed any more");
    }
    return now;
  };
  return { app, followed };
}

/** Numbers by chance, the same in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("the log is long, and turns are numbered without gaps", () => {
  expect(whole.length).toBeGreaterThanOrEqual(120);
  expect(whole.map(({ turn }) => turn)).toEqual(whole.map((_, index) => index + 1));
  expect(answeredAt.size).toBeGreaterThan(0);
  expect(handOvers.length).toBeGreaterThan(0);
});

test.each([1, 2, 19, 20, 21, 30, 119, 100_000])("with the newest %i turns followed, all that is read shows as the whole does", async (newest) => {
  const random = chance(newest);
  const { app, followed } = open(newest);
  expect(turnCount(followed())).toBe(whole.length);
  const check = () => {
    for (let turn = 1; turn <= whole.length; turn++) {
      expect([null, whole[turn - 1]]).toContainEqual(turnAt(followed(), turn));
    }
    const read = readToTheEnd(followed());
    expect(read).toEqual(whole.slice(whole.length - read.length));
  };
  check();
  for (let step = 0; step < 12; step++) {
    const from = 1 + random(whole.length);
    app.readTurns(SESSION, from, from + random(30));
    app.readTurns(SESSION, from - random(9), from);
    await vi.waitFor(() => expect([...followed().earlier.values()].filter(({ kind }) => kind !== "read")).toEqual([]));
    expect(turnAt(followed(), from)).toEqual(whole[from - 1]);
    check();
  }
  app.readTurns(SESSION, 1, whole.length);
  await vi.waitFor(() => expect(readToTheEnd(followed())).toEqual(whole));
  const told = whole.flatMap(({ turn }) => handOversAfter(followed(), turn).map(({ after, to }) => ({ after, to })));
  expect(told).toEqual(handOvers.filter(({ after }) => after > 0).map(({ after, to }) => ({ after, to })));
  expect(new Map([...followed().answeredAt].sort())).toEqual(new Map([...answeredAt].sort()));
});

test("what is on its way is not asked for again, and what could not be read is", async () => {
  const read = vi.fn<Http["entriesOfTurns"]>().mockResolvedValueOnce({ ok: false, failure: { kind: "unreachable" } });
  read.mockImplementation(entriesOfTurns as unknown as Http["entriesOfTurns"]);
  const { app, followed } = open(30, read);
  app.readTurns(SESSION, 3, 9);
  app.readTurns(SESSION, 1, 20);
  expect(read.mock.calls).toEqual([[SESSION, 1, 20, null]]);
  await vi.waitFor(() => expect(followed().earlier.get(0)).toEqual({ kind: "failed", words: "The server did not answer." }));
  app.readTurns(SESSION, 3, 3);
  await vi.waitFor(() => expect(turnAt(followed(), 3)).toEqual(whole[2]));
});

test("what comes after the session was left is not kept", async () => {
  const { app, followed } = open(30);
  app.readTurns(SESSION, 1, 1);
  app.unfollow(SESSION);
  await new Promise((resolve) => setTimeout(resolve));
  expect(followed().earlier.size).toBe(0);
});

test("few pages are kept, those nearest to the newest", () => {
  let earlier = NOTHING_EARLIER;
  for (let page = 0; page < 100; page++) {
    earlier = putPage(earlier, page, { kind: "read", turns: [], handOvers: [], asides: [], forks: [] });
  }
  expect([...earlier.keys()]).toEqual(Array.from({ length: 25 }, (_, index) => 75 + index));
  expect(findEarlier(earlier, 1)).toBeNull();
  expect(missingPages(earlier, 1480, 1520, 10_000)).toEqual([73, 74]);
  expect(missingPages(earlier, -5, 0, 10_000)).toEqual([]);
  expect(missingPages(earlier, 1, 50, 31)).toEqual([0, 1]);
});

test("an output that is removed long after its turn is marked in the pages that are there", () => {
  const entries = fixtures.find(({ name }) => name.startsWith("what was shown stands"))?.entries ?? [];
  const { page } = foldPage(entries);
  const earlier = putPage(NOTHING_EARLIER, 0, page);
  const id = "out_0123456789abcdef0123456789abcdef";
  const items = findEarlier(removeOutput(earlier, id, "pruned"), 1)?.items ?? [];
  expect(items.flatMap((item) => (item.type === "output" ? [item.removed] : []))).toEqual(["pruned", undefined]);
  expect(removeOutput(earlier, "out_00000000000000000000000000000000", "removed")).toBe(earlier);
});
