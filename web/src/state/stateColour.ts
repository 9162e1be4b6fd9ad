// The colour of the word for how a session or a turn stands; the word itself says the same.
import type { SessionState, TurnState } from "../wire/names";

const COLOURS: Record<SessionState | TurnState, string> = {
  needs_you: "text-thread",
  starting: "text-running",
  running: "text-running",
  unresponsive: "text-warning",
  interrupted: "text-warning",
  failed: "text-failed",
  idle: "text-soft",
  completed: "text-soft",
  cancelled: "text-soft",
};

/** `asking`: it runs, and waits for the person. */
export function stateColour(state: SessionState | TurnState, asking = false): string {
  // A newer server may know a state that the page does not.
  return asking && state === "running" ? COLOURS.needs_you : ((COLOURS as Partial<Record<string, string>>)[state] ?? "text-soft");
}
