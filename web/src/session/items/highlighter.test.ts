// The way to the worker: one block at a time, nothing asked twice, and no block that holds up the others.
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Highlighter } from "./highlighter";

interface Opened {
  postMessage: ReturnType<typeof vi.fn>;
  terminate: ReturnType<typeof vi.fn>;
  onmessage(event: { data: unknown }): void;
}

function open() {
  const workers: Opened[] = [];
  const highlighter = new Highlighter(() => {
    const worker: Opened = { postMessage: vi.fn(), terminate: vi.fn(), onmessage: () => undefined };
    workers.push(worker);
    return worker as unknown as Worker;
  });
  const ask = (code: string) => {
    const done = vi.fn();
    return { done, takeBack: highlighter.ask({ code, language: "rust", done }) };
  };
  return { highlighter, workers, ask };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("blocks go one by one to one worker, and what came back is known", () => {
  const { highlighter, workers, ask } = open();
  const first = ask("one");
  const second = ask("two");
  expect(workers[0]?.postMessage.mock.calls).toEqual([[{ code: "one", language: "rust" }]]);
  workers[0]?.onmessage({ data: [["keyword", "one"]] });
  expect(first.done).toHaveBeenCalledExactlyOnceWith([["keyword", "one"]]);
  expect(workers[0]?.postMessage).toHaveBeenLastCalledWith({ code: "two", language: "rust" });
  workers[0]?.onmessage({ data: null });
  expect(second.done).toHaveBeenCalledExactlyOnceWith(null);
  expect(workers).toHaveLength(1);
  expect(highlighter.known("one", "rust")).toEqual([["keyword", "one"]]);
  expect(highlighter.known("two", "rust")).toBeNull();
  expect(highlighter.known("three", "rust")).toBeUndefined();
});

test("what is taken back is not asked, or not told", () => {
  const { workers, ask } = open();
  const first = ask("one");
  ask("two").takeBack();
  ask("three");
  first.takeBack();
  workers[0]?.onmessage({ data: [] });
  expect(first.done).not.toHaveBeenCalled();
  expect(workers[0]?.postMessage).toHaveBeenLastCalledWith({ code: "three", language: "rust" });
});

test("a block that takes too long stays plain and ends the worker; the next one has another", () => {
  const { workers, ask } = open();
  const hostile = ask("hostile");
  const next = ask("next");
  vi.advanceTimersByTime(5_000);
  expect(hostile.done).toHaveBeenCalledExactlyOnceWith(null);
  expect(workers[0]?.terminate).toHaveBeenCalledOnce();
  expect(workers[1]?.postMessage).toHaveBeenCalledExactlyOnceWith({ code: "next", language: "rust" });
  workers[1]?.onmessage({ data: [["string", "next"]] });
  expect(next.done).toHaveBeenCalledWith([["string", "next"]]);
});

test("without a worker everything stays plain", () => {
  const done = vi.fn();
  const highlighter = new Highlighter(() => {
    throw new Error("no workers here");
  });
  highlighter.ask({ code: "one", language: "rust", done });
  expect(done).toHaveBeenCalledExactlyOnceWith(null);
});

test("equal blocks are coloured once and counted once", () => {
  const { highlighter, workers, ask } = open();
  const code = "a".repeat(300_000);
  const equal = [ask(code), ask(code), ask(code), ask(code), ask(code)];
  workers[0]?.onmessage({ data: [] });
  expect(workers[0]?.postMessage).toHaveBeenCalledOnce();
  for (const { done } of equal) {
    expect(done).toHaveBeenCalledExactlyOnceWith([]);
  }
  ask("b");
  workers[0]?.onmessage({ data: [] });
  expect(highlighter.known(code, "rust")).toEqual([]);
});

test("what was coloured long ago is let go of", () => {
  const { highlighter, workers, ask } = open();
  for (const letter of "abcdef") {
    ask(letter.repeat(300_000));
    workers[0]?.onmessage({ data: [] });
  }
  expect(highlighter.known("a".repeat(300_000), "rust")).toBeUndefined();
  expect(highlighter.known("f".repeat(300_000), "rust")).toEqual([]);
});
