// The key of a wish stays until the wish was answered.
import { renderHook } from "@testing-library/react";
import { expect, test } from "vitest";

import type { Answer } from "../api/http";
import { useKeyed } from "./useKeyed";

test("a wish keeps its key until it was answered, and each wish has its own", async () => {
  const { result } = renderHook(useKeyed);
  const asked: string[] = [];
  const ask = (wish: string, answer: Answer<null>) =>
    result.current(wish, (key) => {
      asked.push(key);
      return Promise.resolve(answer);
    });
  const lost: Answer<null> = { ok: false, failure: { kind: "unreachable" } };
  await ask("a", lost);
  await ask("b", lost);
  await ask("a", { ok: true, value: null });
  await ask("a", { ok: false, failure: { kind: "refused", status: 409, code: "x", message: "x" } });
  await ask("a", lost);
  const [first, other, same, granted, refused] = asked;
  expect(same).toBe(first);
  expect(new Set([first, other, granted, refused]).size).toBe(4);
});
