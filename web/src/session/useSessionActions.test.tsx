// What is done in a session by key: a stop that failed is said.
import { cleanup, fireEvent, renderHook, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { inApp } from "../app/inApp";
import { NOT_READ } from "../state/followed";
import type { SessionRow } from "../wire/names";
import { useSessionActions } from "./useSessionActions";

afterEach(cleanup);

test("a stop that failed is said, and taken back by one that did not", async () => {
  const failure = { kind: "unreachable" } as const;
  const answers: object[] = [{ ok: false, failure }, { ok: true, value: {} }];
  const http = { cancel: vi.fn(() => Promise.resolve(answers.shift())) };
  const onFailure = vi.fn();
  const row = { id: "s" } as SessionRow;
  const nothing = () => undefined;
  renderHook(
    () => useSessionActions({ row, followed: NOT_READ, running: true, fenced: false, read: null, field: { current: null }, onFork: nothing, onTab: nothing, onApplets: nothing, onFind: undefined, onFailure }),
    inApp({ http }),
  );
  const stop = () => [1, 2].forEach(() => fireEvent.keyDown(document.body, { key: "Escape" }));
  stop();
  await waitFor(() => expect(onFailure.mock.calls).toEqual([[failure]]));
  stop();
  await waitFor(() => expect(onFailure.mock.calls).toEqual([[failure], [null]]));
  expect(http.cancel).toHaveBeenCalledTimes(2);
});
