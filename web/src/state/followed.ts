// A session that is being read: its transcript, the prompts that wait, and words that are not durable yet.
//
// Invariant: entries are folded in without gap or repeat; whatever comes out of turn leaves the value as it was, and
// the live client, which sees the gap too, asks for the missing part. Previews never reach the transcript: they are
// laid over it when it is shown, and each vanishes with the entry that holds its words.
import type { Entry, ErrorDetail, FrameOf, QueuedPrompt } from "../wire/names";
import type { Transcript, TranscriptTurn } from "./transcript";
import { addText, applyToTranscript, EMPTY_TRANSCRIPT } from "./transcript";

/** How far the reading has come. */
export type Reading =
  /** What is stored is on its way. */
  | { kind: "loading" }
  /** All that was stored has been seen at least once. */
  | { kind: "ready" }
  /** Its log is damaged: all before the damage has been seen, and nothing will come. */
  | { kind: "damaged"; error: ErrorDetail }
  /** It was deleted. */
  | { kind: "deleted" }
  /** The server would not let it be followed. */
  | { kind: "refused"; error: ErrorDetail };

export interface Followed {
  readonly reading: Reading;
  /** The last entry folded in. */
  readonly seq: number;
  /** Where to go on from; null before the first entry. */
  readonly cursor: string | null;
  readonly transcript: Transcript;
  /** Prompts that wait, in order. */
  readonly queue: readonly QueuedPrompt[];
  /** Words of the running turn, by block, that no entry holds yet. */
  readonly previews: ReadonlyMap<number, string>;
  /** The turn whose previews began before the follow did: they would show the end of a sentence without its start. */
  readonly muted: number | null;
}

export const NOT_READ: Followed = {
  reading: { kind: "loading" },
  seq: 0,
  cursor: null,
  transcript: EMPTY_TRANSCRIPT,
  queue: [],
  previews: new Map(),
  muted: null,
};

export function applyEntry(followed: Followed, cursor: string, entry: Entry): Followed {
  if (entry.seq !== followed.seq + 1) {
    return followed;
  }
  const next: Followed = {
    ...followed,
    seq: entry.seq,
    cursor,
    transcript: applyToTranscript(followed.transcript, entry),
    queue: applyToQueue(followed.queue, entry),
  };
  switch (entry.type) {
    case "text.part":
      return { ...next, muted: null, previews: settle(followed.previews, entry.data.block, entry.data.text) };
    case "turn.started":
    case "turn.ended":
      return { ...next, muted: null, previews: NOT_READ.previews };
    default:
      return next;
  }
}

export function applyPreview(followed: Followed, preview: FrameOf<"preview">): Followed {
  const running = runningTurn(followed.transcript);
  if (running?.turn !== preview.turn || followed.muted === preview.turn) {
    return followed;
  }
  const previews = new Map(followed.previews);
  previews.set(preview.block, (previews.get(preview.block) ?? "") + preview.text);
  return { ...followed, previews };
}

/** A follow begins, for the first time or again: live words from before it are no longer known to be whole. */
export function beginFollow(followed: Followed): Followed {
  const ready = followed.reading.kind === "ready";
  return { ...followed, reading: ready ? followed.reading : { kind: "loading" }, previews: NOT_READ.previews };
}

export function caughtUp(followed: Followed): Followed {
  return { ...followed, reading: { kind: "ready" }, muted: runningTurn(followed.transcript)?.turn ?? null };
}

/** The follow ended, or never began. What was read of a damaged session stays; it is all there is. */
export function refused(followed: Followed, error: ErrorDetail): Followed {
  return error.code === "session_damaged"
    ? { ...followed, reading: { kind: "damaged", error }, previews: NOT_READ.previews }
    : { ...NOT_READ, reading: { kind: "refused", error } };
}

/** The turn as it is shown: with the words that are not durable yet at the end of their blocks. */
export function withPreviews(turn: TranscriptTurn, previews: ReadonlyMap<number, string>): TranscriptTurn {
  if (turn.outcome !== null || previews.size === 0) {
    return turn;
  }
  const inOrder = [...previews].toSorted(([a], [b]) => a - b);
  return { ...turn, blocks: inOrder.reduce((blocks, [block, text]) => addText(blocks, block, text), turn.blocks) };
}

export function runningTurn(transcript: Transcript): TranscriptTurn | null {
  const last = transcript.turns.at(-1);
  return last !== undefined && last.outcome === null ? last : null;
}

/** Takes from a preview what has become durable; what was said since stays. */
function settle(previews: ReadonlyMap<number, string>, block: number, text: string): ReadonlyMap<number, string> {
  const shown = previews.get(block);
  if (shown === undefined) {
    return previews;
  }
  const left = new Map(previews);
  if (shown.startsWith(text) && shown.length > text.length) {
    left.set(block, shown.slice(text.length));
  } else {
    left.delete(block);
  }
  return left;
}

function applyToQueue(queue: readonly QueuedPrompt[], entry: Entry): readonly QueuedPrompt[] {
  switch (entry.type) {
    case "prompt.queued":
      return [...queue, { ...entry.data, queuedAt: entry.at }];
    case "prompt.changed": {
      const { interactionId, text } = entry.data;
      return queue.map((prompt) => (prompt.interactionId === interactionId ? { ...prompt, text } : prompt));
    }
    case "prompt.removed":
    case "prompt.sent": {
      const { interactionId } = entry.data;
      return queue.some((prompt) => prompt.interactionId === interactionId)
        ? queue.filter((prompt) => prompt.interactionId !== interactionId)
        : queue;
    }
    default:
      return queue;
  }
}
