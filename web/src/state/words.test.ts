// How the session stands is told to those who listen as it is, and never as rest where there is none.
import { expect, test } from "vitest";

import type { AgentState, SessionState } from "../wire/names";
import { standingWords } from "./words";

test.each<[SessionState, AgentState, string]>([
  ["idle", "ready", "guide is idle"],
  ["idle", "stopped", "guide is idle"],
  ["running", "ready", "guide is working"],
  ["needs_you", "ready", "guide needs your answer"],
  ["unresponsive", "unresponsive", "guide does not answer"],
  ["interrupted", "stopped", "guide was interrupted"],
  ["failed", "failed", "guide failed"],
  ["idle", "failed", "guide failed"],
  ["idle", "signed_out", "guide wants you to sign in"],
])("%s with an agent that is %s: %s", (state, program, words) => {
  expect(standingWords({ agent: "guide", state }, program)).toBe(words);
});
