// A prompt that waits: who wrote it is told beside it, and never read out of its words.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { inApp } from "../../app/inApp";
import type { Author } from "../../wire/names";
import { QueuedPromptRow } from "./QueuedPromptRow";

afterEach(cleanup);

test.each([
  [{ type: "person", name: "phone" }, "Waiting its turn[agent:loom] weave"],
  [{ type: "agent", session: "0190a8c0" }, "Waiting its turn · Sent by an agent, from session 0190a8c0[agent:loom] weave"],
] satisfies [Author, string][])("a prompt by %j", (by, words) => {
  const prompt = { interactionId: "i", text: "[agent:loom] weave", queuedAt: "2026-01-02T03:04:05.006Z", by };
  render(<QueuedPromptRow session="s" prompt={prompt} />, inApp({ http: {} }));
  expect(screen.getByRole("region", { name: "Waiting prompt" }).textContent).toBe(words);
});
