// What is being written follows to another device, is never typed over, and leaves when it is sent.
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStore } from "zustand/vanilla";

import { inApp } from "../../app/inApp";
import type { AppState } from "../../state/app";
import { INITIAL_STATE } from "../../state/app";
import { NOT_READ } from "../../state/followed";
import { REST_MS, useUnsent } from "./useUnsent";

function Field({ first, online }: { first: string; online: boolean }) {
  const [text, setText] = useState(first);
  useUnsent({ session: "s", online, text, onWritten: setText });
  return <textarea aria-label="Prompt" value={text} onChange={(event) => setText(event.target.value)} />;
}

/** Something that is not answered before it is released. */
function held() {
  let release: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release: () => release?.() };
}

async function open({ first = "", online = true, there = null as string | null } = {}) {
  const put: string[] = [];
  const slow: { reading: Promise<unknown>; writing: Promise<unknown> } = { reading: Promise.resolve(), writing: Promise.resolve() };
  const http = {
    unsent: () => slow.reading.then(() => ({ ok: true, value: { text: there, writer: there === null ? null : "other" } })),
    putUnsent: (_: string, { text }: { text: string }) => {
      put.push(text);
      return slow.writing.then(() => ({ ok: true, value: { success: true } }));
    },
  };
  const store = createStore<AppState>(() => ({ ...INITIAL_STATE, followed: new Map([["s", NOT_READ]]) }));
  const view = render(<Field first={first} online={online} />, inApp({ http, store }));
  await act(() => Promise.resolve());
  return {
    put,
    slow,
    words: () => screen.getByRole<HTMLTextAreaElement>("textbox").value,
    type: (text: string) => fireEvent.change(screen.getByRole("textbox"), { target: { value: text } }),
    rest: () => act(() => vi.advanceTimersByTimeAsync(REST_MS)),
    hear: (text: string, writer = "other") =>
      act(() => {
        store.setState({ followed: new Map([["s", { ...NOT_READ, unsent: { text, writer } }]]) });
      }),
    connect: () => view.rerender(<Field first={first} online />),
    disconnect: () => view.rerender(<Field first={first} online={false} />),
  };
}

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

test("what is written goes out once the hands rest, and at once when it is emptied", async () => {
  const { put, type, rest } = await open();
  type("mend");
  type("mend the loom");
  expect(put).toEqual([]);
  await rest();
  expect(put).toEqual(["mend the loom"]);
  type("");
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(put).toEqual(["mend the loom", ""]);
});

test("another device's words come into a field that has nothing of its own", async () => {
  const { words, hear, put, rest } = await open({ there: "from the phone" });
  expect(words()).toBe("from the phone");
  hear("from the phone, and more");
  expect(words()).toBe("from the phone, and more");
  hear("");
  expect(words()).toBe("");
  await rest();
  expect(put).toEqual([]);
});

test("what is being typed here is not typed over, and wins when it goes out", async () => {
  const { words, hear, type, rest, put } = await open();
  type("mine");
  hear("theirs");
  expect(words()).toBe("mine");
  await rest();
  expect(put).toEqual(["mine"]);
  hear("theirs, later");
  expect(words()).toBe("theirs, later");
});

test("a server that knows nothing leaves what this browser kept; one that says it was sent does not", async () => {
  const kept = await open({ first: "kept here" });
  expect(kept.words()).toBe("kept here");
  await kept.rest();
  expect(kept.put).toEqual(["kept here"]);
  cleanup();
  const sent = await open({ first: "kept here", there: "" });
  expect(sent.words()).toBe("");
});

test("without a connection nothing goes out, and what was written then goes out afterwards", async () => {
  const { put, type, rest, connect } = await open({ online: false });
  type("offline");
  await rest();
  expect(put).toEqual([]);
  connect();
  await rest();
  expect(put).toEqual(["offline"]);
});

test("what was sent without a connection does not come back from a server that has not heard of it", async () => {
  const { words, put, type, connect, disconnect, slow } = await open({ there: "hello" });
  disconnect();
  type("");
  const early = held();
  slow.reading = early.promise;
  connect();
  early.release();
  await act(() => Promise.resolve());
  expect(words()).toBe("");
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(words()).toBe("");
  expect(put).toEqual([""]);
});

test("an answer that was asked for before the newest words went out is dropped", async () => {
  const { words, put, type, connect, disconnect, slow } = await open({ there: "hello" });
  disconnect();
  type("");
  const late = held();
  slow.reading = late.promise;
  connect();
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(put).toEqual([""]);
  late.release();
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(words()).toBe("");
});

test("what is typed while words are on their way goes out after them, be it what was there before", async () => {
  const { words, put, type, rest, hear, slow } = await open({ there: "first" });
  const arrival = held();
  slow.writing = arrival.promise;
  type("second");
  await rest();
  type("first");
  hear("theirs");
  expect(words()).toBe("first");
  await rest();
  expect(put).toEqual(["second"]);
  arrival.release();
  await act(() => Promise.resolve());
  await rest();
  expect(put).toEqual(["second", "first"]);
  expect(words()).toBe("first");
});
