// What is known of an agent, held to the same fixtures as the server's own fold.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

import type { AgentView, Entry } from "../wire/names";
import { agentOf, applyToAgent, UNKNOWN_AGENT } from "./agent";

interface Fixture {
  name: string;
  entries: Entry[];
  agent: AgentView;
}

const fixtures = JSON.parse(readFileSync(path.resolve(import.meta.dirname, "../../../fixtures/agent-views.json"), "utf8")) as Fixture[];

test.each(fixtures)("$name", ({ entries, agent }) => {
  expect(entries.reduce(applyToAgent, UNKNOWN_AGENT)).toEqual(agent);
  for (let cut = 0; cut <= entries.length; cut++) {
    expect(entries.slice(cut).reduce(applyToAgent, agentOf(agent))).toEqual(agent);
  }
});
