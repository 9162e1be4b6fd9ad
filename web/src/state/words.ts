// The words that people read for what the server says in one.
import { sentence } from "../api/http";
import type { SessionRow, SessionState } from "../wire/names";
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

export function titleOf(row: SessionRow): string {
  return row.title ?? "Untitled session";
}

/** Why the last turn of a damaged session has no end; said by the page, for the log says no more. */
const DAMAGED = "damaged";

export function brokenOff(turn: TranscriptTurn): TranscriptTurn {
  return turn.outcome === null ? { ...turn, outcome: "interrupted", reason: DAMAGED } : turn;
}

/** What is said below a turn that did not simply end well; null where there is nothing to say. */
export function outcomeWords(turn: TranscriptTurn): { title: string; detail: string | null } | null {
  switch (turn.outcome) {
    case null:
    case "completed":
      return null;
    case "cancelled":
      return { title: "Stopped", detail: asSentence(turn.reason) };
    case "failed":
      return { title: "Failed", detail: asSentence(turn.reason) };
    case "interrupted":
      return { title: "Interrupted", detail: interruptionWords(turn) };
  }
}

function interruptionWords({ reason, items }: TranscriptTurn): string | null {
  const kept = items.length === 0 ? "Nothing had been written down yet." : "What was written down until then is kept.";
  switch (reason) {
    case "server_restart":
      return `The server ended while this turn ran. ${kept}`;
    case DAMAGED:
      return "The log is damaged from here on: the rest of this turn can not be read.";
    case "server_shutdown":
      return `The server was shut down while this turn ran. ${kept}`;
    default:
      return asSentence(reason);
  }
}

function asSentence(reason: string | null): string | null {
  return reason === null || reason.trim() === "" ? null : sentence(reason);
}
