// State that could not be sent, and the prompt that takes it along.
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createStore } from "zustand/vanilla";

import { inApp } from "../../app/inApp";
import type { App } from "../../state/app";
import { INITIAL_STATE } from "../../state/app";
import type { NewPrompt } from "../../wire/names";
import { useOutbox } from "../composer/useOutbox";
import { queueOf } from "./unsentState";

const unreachable = { ok: false as const, failure: { kind: "unreachable" as const } };
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
  const queue = queueOf(app, session, "counter");
  const onRefused = vi.fn();
  const hook = renderHook(({ online }) => useOutbox({ session, online, onSent: vi.fn(), onRefused }), { initialProps: { online: false }, ...inApp({ http }) });
  const put = (key: string) => act(async () => {
    hook.result.current.put({ text: "look", key, pictures: [] });
    await Promise.resolve();
  });
  return { queue, prompts, put, store, writes, onRefused, hook, session };
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

test("a prompt that is refused or taken back gives it back", async () => {
  const { queue, prompts, put, onRefused } = open([{ ok: false, failure: { kind: "refused", status: 409, code: "queue_full", message: "full", details: {} } }]);
  await queue.write({ merge: { n: 1 } });
  await put("k1");
  await waitFor(() => expect(onRefused).toHaveBeenCalled());
  expect(prompts).toHaveLength(1);
  expect(queue.unsent).toEqual({ n: 1 });
});

test("it goes by itself when the connection is back", async () => {
  const { queue, writes, store } = open([]);
  await queue.write({ merge: { n: 1 } });
  writes.mockResolvedValue({ ok: true, value: { version: 7 } });
  store.setState({ connection: { kind: "live" } });
  await waitFor(() => expect(queue.unsent).toBeNull());
  expect(writes).toHaveBeenCalledTimes(2);
});
