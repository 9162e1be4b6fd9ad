// Sessions read as one: which rows there are, that keys hold when something is put above, and what lies before.
import { expect, test } from "vitest";

import type { Link } from "./chain";
import { aboveNext, goOn, layoutOf, sessionBefore, shapeOf } from "./chain";
import type { Followed } from "./followed";
import { NOT_READ } from "./followed";
import type { SessionRow } from "../wire/names";
import type { TranscriptTurn } from "./transcript";

/** Turns from `first` to `last` are followed; those before are not. */
function link(session: string, first: number, last: number, change: Partial<Followed> = {}): Link {
  const turns = Array.from({ length: last - first + 1 }, (_, index) => ({ turn: first + index, interactionId: `${session}-i${first + index}` }) as TranscriptTurn);
  return { session, followed: { ...NOT_READ, reading: { kind: "ready" }, transcript: { ...NOT_READ.transcript, turns }, ...change } };
}

function rows(links: Link[]): string[] {
  const layout = layoutOf(links);
  return Array.from({ length: layout.count }, (_, index) => {
    const row = layout.rowAt(index);
    return row === null ? "none" : row.kind === "asked" ? `asked ${row.link}` : row.kind === "head" ? `head ${row.link}` : row.kind === "turn" ? `t${row.turn} of ${row.link}` : `waits ${row.nth}`;
  });
}

const keys = (links: Link[]) => {
  const layout = layoutOf(links);
  return Array.from({ length: layout.count }, (_, index) => layout.keyOf(index));
};

const waiting = { interactionId: "q", text: "later", queuedAt: "2026-01-02T03:04:05.006Z", by: { type: "person" as const } };

test("a session alone has no head, and its prompts wait below its turns", () => {
  expect(rows([link("a", 1, 2, { queue: [waiting] })])).toEqual(["t1 of 0", "t2 of 0", "waits 0"]);
});

test("one that belongs to a work, or goes on from another, has a head", () => {
  expect(rows([link("a", 1, 1, { previous: "b" })])).toEqual(["head 0", "t1 of 0"]);
  expect(rows([link("a", 1, 1, { work: { id: "w", name: "Loom" } })])).toEqual(["head 0", "t1 of 0"]);
});

test("in a chain each session has a head, and only the open one's prompts are shown", () => {
  const links = [link("a", 1, 2, { queue: [waiting] }), link("b", 1, 1, { queue: [waiting] })];
  expect(rows(links)).toEqual(["head 0", "t1 of 0", "t2 of 0", "head 1", "t1 of 1", "waits 0"]);
  expect(layoutOf(links).starts).toEqual([0, 3]);
  expect(layoutOf(links).indexOf(1, 1)).toBe(4);
  expect(layoutOf(links).rowAt(6)).toBeNull();
});

test("keys hold when a session is put above, for turns that are not read as well", () => {
  const open = link("b", 3, 4, { previous: "a" });
  const alone = keys([open]);
  expect(alone).toEqual(["b", "b 1", "b 2", "b-i3", "b-i4"]);
  const together = keys([link("a", 2, 3), open]);
  expect(together.slice(-alone.length)).toEqual(alone);
  expect(new Set(together).size).toBe(together.length);
});

test("a prompt that waits keeps its key when it becomes a turn", () => {
  const before = keys([link("a", 1, 1, { queue: [{ ...waiting, interactionId: "a-i2" }] })]);
  expect(keys([link("a", 1, 2)])).toEqual(before);
});

test("a session of which nothing is said yet is a head", () => {
  expect(rows([link("a", 1, 1), link("b", 1, 0)])).toEqual(["head 0", "t1 of 0", "head 1"]);
});

test("what is asked beside the turns stands below them; above the open session only if it is settled", () => {
  const asked = (answer: object | null) => ({ transcript: { ...link("a", 1, 1).followed.transcript, asides: [{ request: 1, after: 1, answer }] as unknown as Followed["transcript"]["asides"] } });
  expect(rows([link("a", 1, 1, { ...asked(null), queue: [waiting] })])).toEqual(["t1 of 0", "waits 0", "asked 0"]);
  expect(rows([link("a", 1, 1, asked(null)), link("b", 1, 0)])).toEqual(["head 0", "t1 of 0", "head 1"]);
  expect(rows([link("a", 1, 1, asked({})), link("b", 1, 0)])).toEqual(["head 0", "t1 of 0", "asked 0", "head 1"]);
});

test("the shape changes with turns and prompts, not with words", () => {
  const a = link("a", 1, 2);
  expect(shapeOf([{ ...a, followed: { ...a.followed, seq: 99 } }])).toBe(shapeOf([a]));
  expect(shapeOf([link("a", 1, 3)])).not.toBe(shapeOf([a]));
  expect(shapeOf([link("a", 1, 2, { previous: "z" })])).not.toBe(shapeOf([a]));
});

test("what lies before is known once the topmost session is read; nothing is put in twice", () => {
  const followed = new Map([
    ["c", link("c", 1, 1, { previous: "b" }).followed],
    ["b", link("b", 1, 1, { previous: "a", reading: { kind: "loading" } }).followed],
    ["d", link("d", 1, 1, { previous: "c" }).followed],
  ]);
  const known = { followed, list: { rows: new Map() } };
  expect(sessionBefore(["c"], known)).toBe("b");
  expect(sessionBefore(["b", "c"], known)).toBeNull();
  expect(sessionBefore(["d", "c"], known)).toBeNull();
  expect(sessionBefore(["unknown"], known)).toBeNull();
  expect(sessionBefore(["c", ...Array.from({ length: 39 }, (_, index) => `s${index}`)], known)).toBeNull();
});

test("the session that a step was taken in stands above the one that it began, rather than the member before; unless it is gone", () => {
  const followed = new Map([["c", link("c", 1, 1, { previous: "member" }).followed]]);
  const begun = { id: "c", from: { session: "origin", block: "t1.n1" } } as SessionRow;
  const origin = { id: "origin", deletedAt: null } as SessionRow;
  const heard = (...all: SessionRow[]) => ({ followed, list: { rows: new Map(all.map((row) => [row.id, row])) } });
  expect(sessionBefore(["c"], heard(begun, origin))).toBe("origin");
  expect(sessionBefore(["c"], heard(begun))).toBe("origin");
  expect(sessionBefore(["c"], heard(begun, { ...origin, deletedAt: "2026-01-02T03:04:05.006Z" }))).toBe("member");
  followed.set("origin", { ...NOT_READ, reading: { kind: "refused", error: { code: "session_not_found", message: "there is no such session", details: {} } } });
  expect(sessionBefore(["c"], heard(begun))).toBe("member");
  followed.set("member", { ...NOT_READ, reading: { kind: "deleted" } });
  expect(sessionBefore(["c"], heard(begun))).toBeNull();
});

test("a thread goes on from its end, and from the middle anew", () => {
  expect(goOn([], "a", "b")).toEqual(["a", "b"]);
  expect(goOn(["a", "b"], "b", "c")).toEqual(["a", "b", "c"]);
  expect(goOn(["a", "b", "c"], "a", "d")).toEqual(["a", "d"]);
  expect(goOn(["a", "b"], "x", "y")).toEqual(["x", "y"]);
});

test("going on puts what was open above; going back takes it down again", () => {
  expect(aboveNext(["z"], "a", "b")).toEqual(["z", "a"]);
  expect(aboveNext(["z", "a"], "b", "a")).toEqual(["z"]);
});

test("the key of a row is made once, however often it is asked for", () => {
  let looks = 0;
  const long = link("a", 1, 500);
  const watched: Link = {
    session: "a",
    get followed() {
      looks += 1;
      return long.followed;
    },
  };
  const layout = layoutOf([watched]);
  const ask = () => Array.from({ length: layout.count }, (_, index) => layout.keyOf(index));
  const first = ask();
  expect(looks).toBeGreaterThan(500);
  looks = 0;
  expect(ask()).toEqual(first);
  expect(looks).toBe(0);
});
