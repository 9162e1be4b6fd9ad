// What a reader sees of a session: its turns, each with the prompt and the answer's blocks.
//
// Invariant: this is the fold of crates/model/src/transcript.rs, word for word; fixtures/transcripts/ holds both to it.
// Values are never changed in place: a turn that did not change is the same object, so that it is not drawn again.
import type { Entry, InteractionId, Outcome, Timestamp } from "../wire/names";

export interface TranscriptTurn {
  readonly turn: number;
  readonly interactionId: InteractionId;
  /** The person's words. */
  readonly prompt: string;
  /** The agent's words, a text a block. */
  readonly blocks: readonly string[];
  /** How it ended; null while it runs. */
  readonly outcome: Outcome | null;
  /** Why it ended so, where there is more to say. */
  readonly reason: string | null;
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp | null;
}

export interface Transcript {
  /** Oldest first. */
  readonly turns: readonly TranscriptTurn[];
}

export const EMPTY_TRANSCRIPT: Transcript = { turns: [] };

/** Folds in the next entry of the session. */
export function applyToTranscript(transcript: Transcript, entry: Entry): Transcript {
  switch (entry.type) {
    case "turn.started": {
      const { turn, interactionId } = entry.data;
      const started: TranscriptTurn = {
        turn,
        interactionId,
        prompt: "",
        blocks: [],
        outcome: null,
        reason: null,
        startedAt: entry.at,
        endedAt: null,
      };
      return { turns: [...transcript.turns, started] };
    }
    case "prompt.sent": {
      const { text } = entry.data;
      return changeLast(transcript, (turn) => ({ ...turn, prompt: text }));
    }
    case "text.part": {
      const { turn, block, text } = entry.data;
      return changeLast(transcript, (open) => (open.turn === turn ? { ...open, blocks: addText(open.blocks, block, text) } : open));
    }
    case "turn.ended": {
      const { turn, outcome, reason } = entry.data;
      return changeLast(transcript, (open) =>
        open.turn === turn ? { ...open, outcome, reason: reason ?? null, endedAt: entry.at } : open,
      );
    }
    default:
      return transcript;
  }
}

/** Adds to the block of this number; a number that skips ahead opens one block. */
export function addText(blocks: readonly string[], block: number, text: string): readonly string[] {
  const words = blocks[block];
  return words === undefined ? [...blocks, text] : blocks.with(block, words + text);
}

function changeLast(transcript: Transcript, change: (turn: TranscriptTurn) => TranscriptTurn): Transcript {
  const last = transcript.turns.at(-1);
  if (last === undefined) {
    return transcript;
  }
  const changed = change(last);
  return changed === last ? transcript : { turns: transcript.turns.with(-1, changed) };
}
