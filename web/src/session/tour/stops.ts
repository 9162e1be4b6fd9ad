// The stops of the guide's tour (crates/agents/src/guide/tour.rs), and what the page offers after each.
import { runningTurn } from "../../state/followed";
import type { Transcript } from "../../state/transcript";

export type TourOffer =
  /** Sends this prompt. */
  | { kind: "stop"; label: string; prompt: string }
  /** The answer itself has the button. */
  | { kind: "step" }
  /** A session of the person's own. */
  | { kind: "own" };

const AFTER: Readonly<Record<string, TourOffer>> = {
  tour: { kind: "stop", label: "Next: a question", prompt: "tour question" },
  "tour question": { kind: "stop", label: "Next: an edit", prompt: "tour edit" },
  "tour edit": { kind: "stop", label: "Next: a next step", prompt: "tour next" },
  "tour next": { kind: "step" },
  "tour end": { kind: "own" },
};

/** What comes after the newest turn, if that was a stop of the tour that has ended. */
export function tourOffer(agent: string, transcript: Transcript): TourOffer | null {
  const newest = transcript.turns.at(-1);
  if (agent !== "guide" || newest === undefined || runningTurn(transcript) !== null || newest.outcome !== "completed") {
    return null;
  }
  return AFTER[newest.prompt.trim().toLowerCase()] ?? null;
}
