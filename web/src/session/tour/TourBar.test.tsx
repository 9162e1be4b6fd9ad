// The tour is gone through with one press a stop, and ends at a session of one's own.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { Answer } from "../../api/http";
import { inApp } from "../../app/inApp";
import { FrameContext } from "../../app/FrameContext";
import type { Transcript, TranscriptTurn } from "../../state/transcript";
import { EMPTY_TRANSCRIPT } from "../../state/transcript";
import type { NewPrompt, SessionRow } from "../../wire/names";
import { TourBar } from "./TourBar";

afterEach(cleanup);

const ROW = { id: "s", agent: "guide" } as SessionRow;

function said(prompt: string, change: Partial<TranscriptTurn> = {}): Transcript {
  const turn = { turn: 1, prompt, items: [], outcome: "completed", ...change } as unknown as TranscriptTurn;
  return { ...EMPTY_TRANSCRIPT, turns: [turn] };
}

function show(transcript: Transcript, row = ROW, answer: Answer<unknown> = { ok: true, value: {} }) {
  const sendPrompt = vi.fn((_: string, __: NewPrompt) => Promise.resolve(answer));
  const frame = { show: vi.fn(), goOn: vi.fn(), remove: vi.fn(), run: vi.fn() };
  const { wrapper: Wrapper } = inApp({ http: { sendPrompt } });
  render(
    <Wrapper>
      <FrameContext value={frame}>
        <TourBar row={row} transcript={transcript} onSent={vi.fn()} />
      </FrameContext>
    </Wrapper>,
  );
  return { sendPrompt, frame };
}

test.each([
  ["tour", "Next: a question", "tour question"],
  ["Tour question", "Next: an edit", "tour edit"],
  ["tour edit", "Next: a next step", "tour next"],
])("after %s, one press leads on", async (prompt, label, next) => {
  const { sendPrompt } = show(said(prompt));
  await userEvent.click(screen.getByRole("button", { name: label }));
  expect(sendPrompt.mock.calls.map(([session, { text }]) => [session, text])).toEqual([["s", next]]);
  // A second press before the turn is there would be the same stop once more.
  expect(screen.getByRole<HTMLButtonElement>("button", { name: label }).disabled).toBe(true);
});

test("where the answer has the button, the bar says so", () => {
  show(said("tour next"));
  screen.getByText("Press the button in the answer to go on.");
  expect(screen.queryByRole("button")).toBeNull();
});

test("the end leads to a session of one's own", async () => {
  const { frame } = show(said("tour end"));
  screen.getByRole("heading", { name: "Now your own" });
  await userEvent.click(screen.getByRole("button", { name: "Begin your own session" }));
  expect(frame.show).toHaveBeenCalledWith("new-session");
});

test("a press that got no answer can be tried again, under the same key", async () => {
  const { sendPrompt } = show(said("tour"), ROW, { ok: false, failure: { kind: "unreachable" } });
  const press = () => userEvent.click(screen.getByRole("button", { name: "Next: a question" }));
  await press();
  screen.getByText("The server did not answer.");
  await press();
  const keys = sendPrompt.mock.calls.map(([, { key }]) => key);
  expect(keys).toEqual([expect.any(String), keys[0]]);
});

test.each<[string, Transcript, SessionRow]>([
  ["anything else", said("say tour"), ROW],
  ["a stop that runs", said("tour", { outcome: null }), ROW],
  ["a stop that was stopped", said("tour", { outcome: "cancelled" }), ROW],
  ["another agent", said("tour"), { ...ROW, agent: "claude" }],
  ["an empty session", EMPTY_TRANSCRIPT, ROW],
])("%s is no tour", (_, transcript, row) => {
  show(transcript, row);
  expect(screen.queryByRole("region", { name: "Tour" })).toBeNull();
});
