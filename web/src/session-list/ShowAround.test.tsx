// The tour is gone to when it has begun, by whoever is still there.
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { FrameContext } from "../app/FrameContext";
import { inApp } from "../app/inApp";
import { navigate } from "../ui/navigation";
import { ShowAround } from "./ShowAround";

afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/");
});

function open() {
  let answer: ((value: object) => void) | undefined;
  const http = {
    whoami: () => Promise.resolve({ ok: true, value: { tourDirectory: "/tour" } }),
    createSession: vi.fn(() => Promise.resolve({ ok: true, value: { id: "begun" } })),
    sendPrompt: vi.fn(() => new Promise((resolve) => (answer = resolve))),
  };
  const { wrapper: Wrapper } = inApp({ http });
  const view = render(
    <Wrapper>
      <FrameContext value={{ show: vi.fn(), goOn: vi.fn(), remove: vi.fn(), run: vi.fn() }}>
        <ShowAround />
      </FrameContext>
    </Wrapper>,
  );
  return { view, created: http.createSession, sent: http.sendPrompt, answer: () => act(async () => answer?.({ ok: true, value: {} })) };
}

test("whoever waits is led to the tour; whoever went elsewhere is not", async () => {
  const waiting = open();
  await userEvent.click(screen.getByRole("button"));
  await vi.waitFor(() => expect(waiting.sent).toHaveBeenCalledOnce());
  // The session that it began is in the list by now, and what greets newcomers is not there any more.
  waiting.view.unmount();
  await waiting.answer();
  expect(location.pathname).toBe("/s/begun");
  cleanup();
  history.replaceState(null, "", "/");
  const left = open();
  await userEvent.click(screen.getByRole("button"));
  await vi.waitFor(() => expect(left.sent).toHaveBeenCalledOnce());
  act(() => navigate("/s/other"));
  await left.answer();
  expect(location.pathname).toBe("/s/other");
});

test("the tour is a piece of work from its first session on, so that its last stop is the second one of it", async () => {
  const { created } = open();
  await userEvent.click(screen.getByRole("button"));
  await vi.waitFor(() => expect(created).toHaveBeenCalledWith(expect.objectContaining({ agent: "guide", cwd: "/tour", metaContext: "Show me around" })));
});
