// The words that people read for what the server says in one.
import { sentence } from "../api/http";
import type { AgentState, Author, PermissionAnswer, PermissionKind, RememberedPermission, SessionRow, SessionState, StepStatus, ToolKind, ToolStatus } from "../wire/names";
import type { TranscriptTurn } from "./transcript";

const STATE_WORDS: Record<SessionState, string> = {
  starting: "Starting",
  idle: "Idle",
  running: "Running",
  needs_you: "Needs you",
  unresponsive: "Not answering",
  interrupted: "Interrupted",
  failed: "Failed",
};

export function stateWord(state: SessionState): string {
  // A server newer than this page may know a state that the page does not.
  return (STATE_WORDS as Partial<Record<string, string>>)[state] ?? state.replaceAll("_", " ");
}

/** How the session stands, as a sentence for those who listen. */
export function standingWords({ agent, state }: Pick<SessionRow, "agent" | "state">, program: AgentState): string {
  if (program === "failed" && state !== "needs_you") {
    return `${agent} failed`;
  }
  if (program === "signed_out") {
    return `${agent} wants you to sign in`;
  }
  switch (state) {
    case "starting":
    case "running":
      return `${agent} is working`;
    case "needs_you":
      return `${agent} needs your answer`;
    case "unresponsive":
      return `${agent} does not answer`;
    case "interrupted":
      return `${agent} was interrupted`;
    case "failed":
      return `${agent} failed`;
    case "idle":
      return `${agent} is idle`;
  }
}

const TOOL_STATE_WORDS: Record<ToolStatus, string> = {
  pending: "Pending",
  running: "Running",
  completed: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};

export function toolStateWord(status: ToolStatus): string {
  return TOOL_STATE_WORDS[status];
}

/** What a call does, as a step among others: [one, several]. */
const STEP_WORDS: Record<ToolKind, [string, string]> = {
  read: ["read", "reads"],
  edit: ["edit", "edits"],
  delete: ["deletion", "deletions"],
  move: ["move", "moves"],
  search: ["search", "searches"],
  execute: ["command", "commands"],
  think: ["thought", "thoughts"],
  fetch: ["fetch", "fetches"],
  switch_mode: ["change of mode", "changes of mode"],
  other: ["other", "others"],
};

export function stepWords(kind: ToolKind, count: number): string {
  const [one, several] = STEP_WORDS[kind];
  return `${count} ${count === 1 ? one : several}`;
}

const KIND_WORDS: Record<ToolKind, string> = {
  read: "Read",
  edit: "Change a file",
  delete: "Delete",
  move: "Move",
  search: "Search",
  execute: "Run a command",
  think: "Think",
  fetch: "Fetch from the network",
  switch_mode: "Change its mode",
  other: "Use a tool",
};

/** What the agent wants to do, or did. */
export function kindWords(kind: ToolKind): string {
  return KIND_WORDS[kind];
}

const PLAN_WORDS: Record<StepStatus, string> = { pending: "To do", running: "In progress", completed: "Done" };

export function planWord(status: StepStatus): string {
  return PLAN_WORDS[status];
}

const CHOICE_WORDS: Record<PermissionKind, { wish: string; done: string }> = {
  allow_once: { wish: "Allow once", done: "Allowed once" },
  allow_always: { wish: "Always allow", done: "Always allowed" },
  reject_once: { wish: "Reject", done: "Rejected" },
  reject_always: { wish: "Always reject", done: "Always rejected" },
};

export function choiceWords(kind: PermissionKind): string {
  return CHOICE_WORDS[kind].wish;
}

/** What is remembered holds for more than once. */
const REMEMBERED_WORDS: Record<PermissionKind, { done: string }> = { ...CHOICE_WORDS, allow_once: { done: "Allowed" } };

/** "Allowed once by phone", "Allowed by phone, remembered". */
export function answerWords({ kind, by, remembered }: PermissionAnswer): string {
  const words = remembered || by.type === "remembered" ? REMEMBERED_WORDS : CHOICE_WORDS;
  const done = kind ? words[kind].done : "Answered";
  switch (by.type) {
    case "person":
      return `${done} by ${by.name}${remembered ? ", remembered" : ""}`;
    case "policy":
      return `${done} by the rule “${by.rule}”`;
    case "remembered":
      return `${done}, remembered`;
    case "nobody":
      return "Not answered: it was withdrawn";
  }
}

export function rememberedWords({ decision, by }: RememberedPermission): string {
  return `${decision === "allow" ? "Allowed" : "Rejected"}${by.type === "person" ? ` by ${by.name}` : ""}`;
}

/** What an applet that nobody has saved is named in place of its slug. */
const NOT_SAVED = "_shown";

/** Who wrote a prompt, if it was not a person. */
export function authorWords(by: Author): string | null {
  switch (by.type) {
    case "person":
      return null;
    case "step":
      return "Sent by pressing a next step";
    case "agent":
      return `Sent by an agent, from session ${by.session}`;
    case "applet":
      return by.name === NOT_SAVED ? "Sent by an applet that is not saved" : `Sent by the applet “${by.name}”`;
    default:
      by satisfies never;
      // A server newer than this page may know authors that the page does not.
      return "Not sent by a person";
  }
}

/** The person wrote it, or took it as it was offered. */
export function isOwn({ by }: Pick<TranscriptTurn, "by">): boolean {
  return by.type === "person" || by.type === "step";
}

export function titleOf(row: SessionRow): string {
  return row.title ?? "Untitled session";
}

/** Why a session's log can not be read to its end. */
export type Fence = "damaged" | "newer";

export function fenceOf(row: SessionRow): Fence | null {
  return row.readOnly === "damaged" || row.readOnly === "newer" ? row.readOnly : null;
}

/** What the header shows in place of the session's state. */
export const FENCE_WORDS: Record<Fence, string> = { damaged: "Damaged", newer: "Read-only" };

/** What is said below the last turn of such a session; said by the page, for the log says no more. */
const FENCE_REASONS: ReadonlyMap<string, string> = new Map<Fence, string>([
  ["damaged", "The log is damaged from here on: the rest of this turn can not be read."],
  ["newer", "A newer version of Throughline wrote the rest of this turn."],
]);

export function brokenOff(turn: TranscriptTurn, why: Fence): TranscriptTurn {
  return turn.outcome === null ? { ...turn, outcome: "interrupted", reason: why } : turn;
}

/** Every reason that is a word and not a sentence: those of the log's own rules, then those of agents' protocol. */
const REASON_WORDS = new Map([
  ["server_restart", "The server ended while this turn ran."],
  ["server_shutdown", "The server was shut down while this turn ran."],
  ["internal_error", "The server met a fault of its own while this turn ran; its log file has the details."],
  ["agent_gone", "The agent ended while this turn ran."],
  ["handed_over", "The session was handed over to another agent while this turn ran."],
  ["signed_out", "The agent wants you to sign in first. Then send the prompt again."],
  ["max_tokens", "The agent reached the most words it may write in one answer."],
  ["max_turn_requests", "The agent reached the most steps it may take in one turn."],
  ["refusal", "The agent declined to go on."],
]);

/** What is said below a turn that did not simply end well; null where there is nothing to say. */
export function outcomeWords(turn: TranscriptTurn): { title: string; detail: string | null } | null {
  const detail = reasonWords(turn.reason);
  switch (turn.outcome) {
    case null:
      return null;
    case "completed":
      return detail === null ? null : { title: "Ended early", detail };
    case "cancelled":
      return { title: "Stopped", detail };
    case "failed":
      return { title: "Failed", detail };
    case "interrupted":
      return { title: "Interrupted", detail: detail === null || FENCE_REASONS.has(turn.reason ?? "") ? detail : `${detail} ${keptWords(turn)}` };
  }
}

function keptWords({ items }: TranscriptTurn): string {
  return items.length === 0 ? "Nothing had been written down yet." : "What was written down until then is kept.";
}

function reasonWords(reason: string | null): string | null {
  const words = reason?.trim() ?? "";
  if (words === "") {
    return null;
  }
  // A newer server, or an agent, may have a word that the page does not know.
  return REASON_WORDS.get(words) ?? FENCE_REASONS.get(words) ?? sentence(/^[a-z0-9]+(_[a-z0-9]+)+$/.test(words) ? words.replaceAll("_", " ") : words);
}
