// What was used is read in chunks, once each, and again when a turn has ended since.
import { expect, test, vi } from "vitest";

import type { Answer } from "../../api/http";
import type { SessionUsage } from "../../wire/usage";
import { CHUNK, UsageBook } from "./usageBook";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";

function answering(turns: () => number[]) {
  return vi.fn((_session: string, after: number, limit: number) =>
    Promise.resolve({ ok: true, value: { turns: turns().filter((turn) => turn > after && turn <= after + limit).map((turn) => ({ turn })) } } as Answer<SessionUsage>),
  );
}

test("a chunk is read once, however many of its turns are in sight", async () => {
  const ask = answering(() => [1, 2, CHUNK + 1]);
  const book = new UsageBook(ask);
  const told = vi.fn();
  book.subscribe(told);
  book.want(SESSION, 1);
  book.want(SESSION, 2);
  await vi.waitFor(() => expect(told).toHaveBeenCalledOnce());
  book.want(SESSION, 1);
  expect(ask.mock.calls).toEqual([[SESSION, 0, CHUNK]]);
  book.want(SESSION, CHUNK + 1);
  await vi.waitFor(() => expect(book.of(SESSION)?.turns.size).toBe(3));
  expect(ask).toHaveBeenLastCalledWith(SESSION, CHUNK, CHUNK);
});

test("a turn that has ended since is read, and one that the server does not know is asked for once", async () => {
  let turns = [1];
  const ask = answering(() => turns);
  const book = new UsageBook(ask);
  book.want(SESSION, 1);
  await vi.waitFor(() => expect(book.of(SESSION)?.turns.has(1)).toBe(true));
  turns = [1, 2];
  book.want(SESSION, 2);
  await vi.waitFor(() => expect(book.of(SESSION)?.turns.has(2)).toBe(true));
  // Whoever wants a turn before it has ended wants it again.
  book.want(SESSION, 4);
  await vi.waitFor(() => expect(ask).toHaveBeenCalledTimes(3));
  turns = [1, 2, 4];
  await vi.waitFor(() => {
    book.want(SESSION, 4);
    expect(book.of(SESSION)?.turns.has(4)).toBe(true);
  });
  const calls = ask.mock.calls.length;
  book.want(SESSION, 3);
  await vi.waitFor(() => expect(ask).toHaveBeenCalledTimes(calls + 1));
  await vi.waitFor(() => {
    book.want(SESSION, 3);
    expect(ask).toHaveBeenCalledTimes(calls + 1);
  });
});

test("a turn that ends while its chunk is read is asked for after it", async () => {
  let turns = [1];
  const ask = answering(() => turns);
  const book = new UsageBook(ask);
  book.want(SESSION, 1);
  turns = [1, 2];
  book.want(SESSION, 2);
  await vi.waitFor(() => expect(book.of(SESSION)?.turns.has(2)).toBe(true));
  expect(ask).toHaveBeenCalledTimes(2);
});

test("what got no answer is asked for again when the connection is back, once", async () => {
  let down = true;
  const answer = answering(() => [1, 2]);
  const ask = vi.fn((session: string, after: number, limit: number): Promise<Answer<SessionUsage>> =>
    down ? Promise.resolve({ ok: false, failure: { kind: "unreachable" } }) : answer(session, after, limit),
  );
  const book = new UsageBook(ask);
  book.want(SESSION, 1);
  book.want(SESSION, 2);
  await ask.mock.results[0]?.value;
  down = false;
  await vi.waitFor(() => {
    book.retry();
    expect(book.of(SESSION)?.turns.size).toBe(2);
  });
  expect(ask).toHaveBeenCalledTimes(2);
  book.retry();
  expect(ask).toHaveBeenCalledTimes(2);
});

test("a late answer of an older chunk leaves the newest total", async () => {
  const answers: ((answer: Answer<SessionUsage>) => void)[] = [];
  const book = new UsageBook(() => new Promise((resolve) => answers.push(resolve)));
  const told = vi.fn();
  book.subscribe(told);
  book.want(SESSION, 1);
  book.want(SESSION, CHUNK + 1);
  const used = (turn: number) => ({ ok: true, value: { turns: [{ turn }], total: { turns: turn } } }) as Answer<SessionUsage>;
  answers[1]?.(used(CHUNK + 1));
  await vi.waitFor(() => expect(told).toHaveBeenCalledOnce());
  answers[0]?.(used(1));
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(2));
  expect([...(book.of(SESSION)?.turns.keys() ?? [])]).toEqual([CHUNK + 1, 1]);
  expect(book.of(SESSION)?.newest.total.turns).toBe(CHUNK + 1);
});
