// A turn on the page: everybody's words are text, and its end is told in words, not by colour alone.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { TranscriptTurn } from "../state/transcript";
import { TurnRow } from "./TurnRow";

const AT = "2026-01-02T03:04:05.006Z";
const turn: TranscriptTurn = {
  turn: 3,
  interactionId: "i",
  prompt: "say hello",
  source: null,
  images: [],
  resume: null,
  items: [{ type: "text", block: 0, text: "hello" }],
  usage: null,
  outcome: "completed",
  reason: null,
  startedAt: AT,
  endedAt: AT,
};

function show(change: Partial<TranscriptTurn>) {
  render(<TurnRow turn={{ ...turn, ...change }} first last retied={false} now={Date.parse(AT)} />);
  return screen.getByRole("article", { name: "Turn 3" });
}

afterEach(cleanup);

test("what looks like HTML is shown as it was written", () => {
  const hostile = "<img src=x onerror=alert(1)><b>bold</b>";
  const article = show({ prompt: hostile, items: [{ type: "text", block: 0, text: hostile }] });
  expect(article.querySelector("img, b")).toBeNull();
  expect(screen.getByRole("heading", { name: hostile })).toBeTruthy();
  expect(article.textContent).toContain(hostile);
});

test.each([
  [{ outcome: null, items: [] }, "Waiting for the first words…"],
  [{ items: [] }, "Ended without an answer."],
  [{ outcome: "cancelled" }, "Stopped."],
  [{ outcome: "failed", reason: "exit code 1" }, "Failed. Exit code 1."],
  [{ outcome: "interrupted", reason: "server_restart" }, "Interrupted. The server ended while this turn ran. What was written down until then is kept."],
] satisfies [Partial<TranscriptTurn>, string][])("%j is told in words", (change, words) => {
  expect(show(change).textContent).toContain(words);
});
