// An applet's writes: together while one is on its way, in their order, kept while nothing answers, and with the next prompt.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer } from "../../api/http";
import type { JsonObject, NewAppletState } from "../../wire/applets";
import { StateQueue } from "./stateQueue";

const UNREACHABLE: Answer<unknown> = { ok: false, failure: { kind: "unreachable" } };
const refused = (code: string, details = {}): Answer<unknown> => ({ ok: false, failure: { kind: "refused", status: 0, code, message: code, details } });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** What is sent waits until the test answers it. */
function open() {
  const sent: NewAppletState[] = [];
  const answers: ((answer: Answer<unknown>) => void)[] = [];
  const queue = new StateQueue((write) => {
    sent.push(write);
    return new Promise((resolve) => answers.push(resolve));
  });
  queue.heard({ a: 0 }, 10);
  const answer = async (given: Answer<unknown>) => {
    answers.shift()?.(given);
    await vi.advanceTimersByTimeAsync(20);
  };
  const ok = (version: number) => answer({ ok: true, value: { version } });
  return { queue, sent, answer, ok };
}

test("what is written while a write is on its way becomes one, and all of it has its version", async () => {
  const { queue, sent, ok } = open();
  const versions = Promise.all([queue.write({ merge: { a: 1 } }), queue.write({ merge: { a: 2 } }), queue.write({ merge: { b: 3 } })]);
  expect(sent).toEqual([{ merge: { a: 1 } }]);
  await ok(11);
  expect(sent).toEqual([{ merge: { a: 1 } }, { merge: { a: 2, b: 3 } }]);
  await ok(12);
  expect(await versions).toEqual([11, 12, 12]);
  expect(queue.unsent).toBeNull();
});

test("no more than fifty go out in a second, however fast the answers are", async () => {
  let count = 0;
  const queue = new StateQueue(() => {
    count += 1;
    return Promise.resolve({ ok: true, value: { version: count } });
  });
  const until = performance.now() + 1_000;
  for (let n = 0; performance.now() < until; n++) {
    void queue.write({ merge: { n } });
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(count).toBeGreaterThan(40);
  expect(count).toBeLessThanOrEqual(51);
});

test("a whole state takes what waits with it, and a change after it goes into it", async () => {
  const { queue, sent, ok } = open();
  void queue.write({ merge: { a: 1 } });
  void queue.write({ merge: { a: 2 } });
  void queue.write({ state: { x: 1 } });
  void queue.write({ merge: { y: 2, x: null } });
  await ok(11);
  expect(sent.at(-1)).toEqual({ state: { y: 2 } });
});

test("a write that expects a version stands alone, in its place, and is told of a conflict", async () => {
  const { queue, sent, answer, ok } = open();
  void queue.write({ merge: { a: 1 } });
  const expecting = queue.write({ state: { a: 2 }, version: 10 });
  expecting.catch(() => undefined);
  void queue.write({ merge: { a: 3 } });
  await ok(11);
  expect(sent.at(-1)).toEqual({ state: { a: 2 }, version: 10 });
  await answer(refused("applet_state_conflict", { version: 11 }));
  await expect(expecting).rejects.toMatchObject({ data: { code: "conflict", version: 11 } });
  expect(sent.at(-1)).toEqual({ merge: { a: 3 } });
});

test("what can not be sent is kept, tried again, and counts as written until there is a newer state", async () => {
  const { queue, sent, answer, ok } = open();
  const first = queue.write({ merge: { a: 1 } });
  await answer(UNREACHABLE);
  expect(await first).toBe(10.5);
  void queue.write({ merge: { b: 2 } });
  expect(sent).toHaveLength(1);
  expect(queue.unsent).toEqual({ a: 1, b: 2 });
  expect(queue.shown).toEqual({ state: { a: 1, b: 2 }, version: 10 });
  queue.retry();
  expect(sent.at(-1)).toEqual({ merge: { a: 1 } });
  await ok(11);
  expect(sent.at(-1)).toEqual({ merge: { b: 2 } });
  await ok(12);
  expect(queue.unsent).toBeNull();
});

test("it tries again by itself", async () => {
  const { queue, sent, answer } = open();
  void queue.write({ merge: { a: 1 } });
  await answer(UNREACHABLE);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(sent).toEqual([{ merge: { a: 1 } }, { merge: { a: 1 } }]);
});

test("a slow write counts as written, so that the applet goes on; one that expects a version is waited for", async () => {
  const { queue } = open();
  const slow = queue.write({ merge: { a: 1 } });
  const settled = vi.fn();
  const expecting = queue.write({ merge: { a: 2 }, version: 10 });
  expecting.then(settled, settled);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await slow).toBe(10.5);
  expect(settled).not.toHaveBeenCalled();
});

test("the next prompt takes what is unsent along, and what is written after it waits behind it", async () => {
  const { queue, sent, answer } = open();
  void queue.write({ merge: { a: 1 } });
  void queue.write({ state: { b: 1 } });
  expect(queue.carry()).toEqual({ a: null, b: 1 });
  expect(queue.carry()).toBeNull();
  void queue.write({ merge: { b: 2 } });
  await answer(UNREACHABLE);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toHaveLength(1);
  queue.settle(true);
  expect(sent.at(-1)).toEqual({ merge: { b: 2 } });
});

test("a prompt that went nowhere gives back what it had taken along", async () => {
  const { queue, sent, answer } = open();
  void queue.write({ merge: { a: 1 } });
  await answer(UNREACHABLE);
  queue.carry();
  queue.settle(false);
  expect(queue.unsent).toEqual({ a: 1 });
  queue.retry();
  expect(sent.at(-1)).toEqual({ merge: { a: 1 } });
});

test("with nothing unsent a prompt carries nothing", () => {
  expect(open().queue.carry()).toBeNull();
});

const KIB = 1024;
/** JSON of so many bytes. */
const ofBytes = (key: string, bytes: number) => ({ [key]: "x".repeat(bytes - `{"${key}":""}`.length) });

test.each([
  ["a state", { state: { a: "x".repeat(256 * KIB) } }],
  ["a change", { merge: { a: "x".repeat(256 * KIB) } }],
  ["one that names a version", { merge: { a: "x".repeat(256 * KIB) }, version: 10 }],
  ["one whose characters are of several bytes", { merge: { a: "é".repeat(200 * KIB) } }],
])("%s that no server would take is refused at once", async (_, write) => {
  const { queue, sent } = open();
  await expect(queue.write(write)).rejects.toMatchObject({ data: { code: "too_large" } });
  expect([sent, queue.carry()]).toEqual([[], null]);
});

test("as large as a state may be goes out", () => {
  const { queue, sent } = open();
  void queue.write({ state: ofBytes("a", 256 * KIB) });
  expect(sent).toHaveLength(1);
});

test("what is nested deeper than a state may be is refused at once, and as deep as it may be goes out", async () => {
  const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: levels % 2 === 0 ? nested(levels - 1) : [nested(levels - 2)] });
  const { queue, sent } = open();
  const writes: NewAppletState[] = [{ state: nested(33) }, { merge: nested(33) }, { merge: nested(5_000), version: 10 }];
  for (const write of writes) {
    await expect(queue.write(write)).rejects.toMatchObject({ data: { code: "too_large" } });
  }
  expect(sent).toEqual([]);
  void queue.write({ merge: nested(32) });
  expect(sent).toEqual([{ merge: nested(32) }]);
});

test.each([
  ["a text", { a: "\ud83d" }],
  ["a key", { "\ude00": 1 }],
  ["a text within", { a: [{ b: ["good", "\ud83dx"] }] }],
  ["a key within", { a: { b: { "x\ude00": null } } }],
])("%s with half of a character is refused, and a whole one is not", async (_, merge) => {
  const { queue, sent } = open();
  await expect(queue.write({ merge })).rejects.toMatchObject({ data: { code: "bad_arguments" } });
  expect(sent).toEqual([]);
  void queue.write({ merge: { "😀": ["😀", 1, null] } });
  expect(sent).toEqual([{ merge: { "😀": ["😀", 1, null] } }]);
});

test("what would be too large together with what waits is refused, and what waits goes out", async () => {
  const { queue, sent, ok } = open();
  void queue.write({ merge: { first: 1 } });
  void queue.write({ merge: ofBytes("a", 200 * KIB) });
  await expect(queue.write({ merge: ofBytes("b", 100 * KIB) })).rejects.toMatchObject({ data: { code: "too_large" } });
  void queue.write({ merge: { c: 1 } });
  await ok(11);
  expect(Object.keys((sent.at(-1) as { merge: object }).merge)).toEqual(["a", "c"]);
});

test("a prompt is not given more than a state may be: it would be refused with it", async () => {
  const { queue, answer } = open();
  void queue.write({ merge: ofBytes("a", 200 * KIB) });
  await answer(UNREACHABLE);
  void queue.write({ merge: ofBytes("b", 200 * KIB) });
  expect(queue.carry()).toBeNull();
  expect(Object.keys(queue.unsent ?? {})).toEqual(["a", "b"]);
});
