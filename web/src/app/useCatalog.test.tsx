// The agents: those found at once first, then all; nothing that was shown moves.
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { Answer } from "../api/http";
import type { Agent } from "../wire/names";
import { inApp } from "./inApp";
import { installedIn, useCatalog } from "./useCatalog";

const agent = (name: string, change: Partial<Agent> = {}): Agent => ({ name, title: name, description: "", installed: true, notes: [], ...change });
const ok = (...agents: Agent[]): Answer<{ agents: Agent[] }> => ({ ok: true, value: { agents } });
const unreachable = { ok: false as const, failure: { kind: "unreachable" as const } };

afterEach(cleanup);

/** The questions in their order, each answered when the test says so. */
function open() {
  const asked: { soFar: boolean; answer(answer: Answer<{ agents: Agent[] }>): Promise<void> }[] = [];
  const agents = ({ soFar = false } = {}) => new Promise((resolve) => asked.push({ soFar, answer: (answer) => act(async () => resolve(answer)) }));
  const { result } = renderHook(() => useCatalog(), inApp({ http: { agents } }));
  const names = () => installedIn(result.current).map(({ name, version }) => (version ? `${name} ${version}` : name)).join(", ");
  return { asked, names, now: () => result.current };
}

test("what is found at once is shown at once, and keeps its place when the rest comes", async () => {
  const { asked, names, now } = open();
  expect(now()).toEqual({ answer: null, whole: false, failure: null });
  expect(asked.map(({ soFar }) => soFar)).toEqual([true]);
  await asked[0]?.answer(ok(agent("codex"), agent("guide"), agent("claude", { installed: false })));
  expect(names()).toBe("codex, guide");
  expect(now().whole).toBe(false);
  expect(asked.map(({ soFar }) => soFar)).toEqual([true, false]);
  await asked[1]?.answer(ok(agent("claude", { version: "2" }), agent("codex", { version: "1" }), agent("guide"), agent("goose", { installed: false })));
  expect(names()).toBe("codex 1, guide, claude 2");
  expect(now()).toMatchObject({ whole: true, failure: null });
});

test("where the first question is refused the second one answers", async () => {
  const { asked, names, now } = open();
  await asked[0]?.answer(unreachable);
  expect(now().answer).toBeNull();
  await asked[1]?.answer(ok(agent("claude")));
  expect(names()).toBe("claude");
});

test("where the second question fails what was found stays, with the reason", async () => {
  const { asked, names, now } = open();
  await asked[0]?.answer(ok(agent("codex")));
  await asked[1]?.answer(unreachable);
  expect(names()).toBe("codex");
  expect(now()).toMatchObject({ whole: true, failure: { kind: "unreachable" } });
});

test("where both fail, that is the answer", async () => {
  const { asked, now } = open();
  await asked[0]?.answer(unreachable);
  await asked[1]?.answer(unreachable);
  expect(now()).toEqual({ answer: unreachable, whole: true, failure: unreachable.failure });
});
