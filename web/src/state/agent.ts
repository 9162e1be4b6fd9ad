// What the session's agent offers and says of itself: how it stands, what can be chosen, what it understands.
//
// Invariant: this is the fold of crates/model/src/agent_view.rs; fixtures/agent-views.json holds both to it. Entries that
// are in it already may be folded in again, oldest first: it comes out the same.
import type { AgentCommand, AgentOption, AgentState, Entry, AgentView as ToldAgent, SignInMethod, Usage } from "../wire/names";
import { isFor } from "./entryKinds";

export interface AgentView {
  readonly state: AgentState;
  /** Why it stands so, where there is more to say. */
  readonly reason: string | null;
  /** What the agent calls itself, with its version. */
  readonly program: string | null;
  readonly options: readonly AgentOption[];
  readonly commands: readonly AgentCommand[];
  /** How to sign in, while it wants that. */
  readonly methods: readonly SignInMethod[];
  readonly usage: Usage | null;
}

/** As the server tells it of a session whose earlier entries are not read. */
export function agentOf({ state, reason, program, options, commands, methods, usage }: ToldAgent): AgentView {
  return { state, reason: reason ?? null, program: program ?? null, options, commands, methods, usage: usage ?? null };
}

export const UNKNOWN_AGENT: AgentView = {
  state: "starting",
  reason: null,
  program: null,
  options: [],
  commands: [],
  methods: [],
  usage: null,
};

export function applyToAgent(agent: AgentView, entry: Entry): AgentView {
  if (!isFor(entry, "agent")) {
    return agent;
  }
  switch (entry.type) {
    case "session.changed":
      // Another agent has its own options.
      return entry.data.agent ? UNKNOWN_AGENT : agent;
    case "agent.state_changed": {
      const { state, reason, attached, methods } = entry.data;
      return { ...agent, state, reason: reason ?? null, program: attached?.program ?? agent.program, methods: methods ?? [] };
    }
    case "agent.options_changed":
      return { ...agent, options: entry.data.options };
    case "agent.commands_changed":
      return { ...agent, commands: entry.data.commands };
    case "usage.reported":
      return { ...agent, usage: entry.data };
  }
}
