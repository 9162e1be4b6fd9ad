// State that could not be sent, and the prompt that takes it along.
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStore } from "zustand/vanilla";

import { inApp } from "../../app/inApp";
import type { App } from "../../state/app";
import { INITIAL_STATE } from "../../state/app";
import type { NewPrompt } from "../../wire/names";
import { readOutbox } from "../composer/outbox";
import { useOutbox } from "../composer/useOutbox";
import { openQueue, writeState } from "./unsentState";

const unreachable = { ok: false as const, failure: { kind: "unreachable" as const } };
const refused = (status: number, code: string) => ({ ok: false as const, failure: { kind: "refused" as const, status, code, message: code, details: {} } });
const accepted = { ok: true as const, value: {} };
let sessions = 0;

beforeEach(() => {
  sessions += 1;
  localStorage.clear();
});

afterEach(cleanup);

function open(answers: object[]) {
  const session = `outbox-${sessions}`;
  const prompts: NewPrompt[] = [];
  const store = createStore(() => INITIAL_STATE);
  const writes = vi.fn(() => Promise.resolve<object>(unreachable));
  const http = {
    sendPrompt: (_session: string, prompt: NewPrompt) => {
      prompts.push(prompt);
      return Promise.resolve(answers.shift() ?? accepted);
    },
    writeAppletState: writes,
  };
  const app = { http, store, writeAppletState: () => Promise.resolve(unreachable) } as unknown as App;
  const { queue, leave } = openQueue(app, session, "counter");
  const onRefused = vi.fn();
  const hook = renderHook(({ online }) => useOutbox({ session, online, onSent: vi.fn(), onRefused }), { initialProps: { online: false }, ...inApp({ http }) });
  const put = (key: string) => act(async () => {
    hook.result.current.put({ text: "look", key, pictures: [] });
    await Promise.resolve();
  });
  return { app, queue, leave, prompts, put, store, writes, onRefused, hook, session };
}

test("it goes with the next prompt, the same each time, and not with the one after it", async () => {
  const { queue, prompts, put, hook } = open([unreachable]);
  await queue.write({ merge: { n: 1 } });
  await put("k1");
  await waitFor(() => expect(prompts).toHaveLength(1));
  void queue.write({ merge: { n: 2 } });
  hook.rerender({ online: true });
  await waitFor(() => expect(prompts).toHaveLength(2));
  expect(prompts.map(({ appletState }) => appletState)).toEqual([{ applet: "counter", merge: { n: 1 } }, { applet: "counter", merge: { n: 1 } }]);
  // What came after it follows it.
  await waitFor(() => expect(queue.unsent).toEqual({ n: 2 }));
  await put("k2");
  expect(prompts.at(-1)?.appletState).toEqual({ applet: "counter", merge: { n: 2 } });
  await waitFor(() => expect(queue.unsent).toBeNull());
  await put("k3");
  expect(prompts.at(-1)).not.toHaveProperty("appletState");
});

test("a prompt that is refused for itself says why, and gives back what it carried", async () => {
  const full = refused(409, "queue_full");
  const { queue, prompts, put, onRefused } = open([full, full]);
  await queue.write({ merge: { n: 1 } });
  await put("k1");
  await waitFor(() => expect(onRefused).toHaveBeenCalledExactlyOnceWith([expect.objectContaining({ text: "look", key: "k1" })], full.failure));
  expect(prompts.map(({ appletState }) => appletState)).toEqual([{ applet: "counter", merge: { n: 1 } }, undefined]);
  expect(queue.unsent).toEqual({ n: 1 });
  await put("k2");
  expect(prompts.at(-1)).toMatchObject({ key: "k2", appletState: { merge: { n: 1 } } });
});

test.each([
  [400, "invalid_body"],
  [404, "applet_not_found"],
  [409, "applet_state_unreadable"],
  [413, "applet_state_too_large"],
  [422, "unknown"],
  [503, "applet_files_unusable"],
])("a state that is refused with %i %s is dropped, and the prompt goes without it, under its key", async (status, code) => {
  const { queue, prompts, put, onRefused, hook, session } = open([refused(status, code), unreachable]);
  await queue.write({ merge: { n: 1 } });
  await put("k1");
  await put("k2");
  await waitFor(() => expect(prompts).toHaveLength(2));
  expect(prompts.map(({ key, appletState }) => [key, appletState])).toEqual([["k1", { applet: "counter", merge: { n: 1 } }], ["k1", undefined]]);
  // A reload sends it the same way, in its place.
  expect(readOutbox(session).whole).toEqual([{ text: "look", key: "k1", pictures: [] }, { text: "look", key: "k2", pictures: [] }]);
  hook.rerender({ online: true });
  await waitFor(() => expect(prompts.map(({ key }) => key)).toEqual(["k1", "k1", "k1", "k2"]));
  await waitFor(() => expect(readOutbox(session).whole).toEqual([]));
  expect(onRefused).not.toHaveBeenCalled();
  expect(queue.unsent).toBeNull();
});

test("a prompt that carries nothing is not sent twice", async () => {
  const { prompts, put, onRefused } = open([refused(409, "queue_full")]);
  await put("k1");
  await waitFor(() => expect(onRefused).toHaveBeenCalledOnce());
  expect(prompts).toHaveLength(1);
});

test("a queue goes with its last user, unless something in it is unsent", async () => {
  const { app, queue, leave, store, writes, session } = open([]);
  const again = openQueue(app, session, "counter");
  expect(again.queue).toBe(queue);
  again.leave();
  await queue.write({ merge: { n: 1 } });
  leave();
  const later = openQueue(app, session, "counter");
  expect(later.queue).toBe(queue);
  writes.mockResolvedValue({ ok: true, value: { version: 7 } });
  store.setState({ connection: { kind: "live" } });
  await waitFor(() => expect(queue.unsent).toBeNull());
  later.leave();
  expect(openQueue(app, session, "counter").queue).not.toBe(queue);
});

test("a queue that is dropped does not hear of the connection any more", async () => {
  const { app, store, writes, session } = open([]);
  writes.mockResolvedValue({ ok: true, value: { version: 7 } });
  const stopped = vi.fn();
  const subscribe = vi.spyOn(store, "subscribe").mockReturnValue(stopped);
  const frame = openQueue(app, session, "plan");
  const menu = writeState(app, session, "plan", { n: 1 });
  frame.leave();
  expect([subscribe.mock.calls.length, stopped.mock.calls.length]).toEqual([1, 0]);
  expect(await menu).toBe(7);
  expect(stopped).toHaveBeenCalledOnce();
});

test("it goes by itself when the connection is back", async () => {
  const { queue, writes, store } = open([]);
  await queue.write({ merge: { n: 1 } });
  writes.mockResolvedValue({ ok: true, value: { version: 7 } });
  store.setState({ connection: { kind: "live" } });
  await waitFor(() => expect(queue.unsent).toBeNull());
  expect(writes).toHaveBeenCalledTimes(2);
});

test("the browser asks before the page is left while the connection is lost and something is unsent, also of an applet that was closed", async () => {
  const asks = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));
  const { queue, leave, writes, store } = open([]);
  store.setState({ connection: { kind: "lost", lastHeardAt: 1 } });
  expect(asks()).toBe(false);
  await queue.write({ merge: { n: 1 } });
  leave();
  expect(asks()).toBe(true);
  writes.mockResolvedValue({ ok: true, value: { version: 7 } });
  store.setState({ connection: { kind: "live" } });
  expect(asks()).toBe(false);
  await waitFor(() => expect(queue.unsent).toBeNull());
  store.setState({ connection: { kind: "lost", lastHeardAt: 2 } });
  expect(asks()).toBe(false);
});
