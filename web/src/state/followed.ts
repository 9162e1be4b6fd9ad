// A session that is being read: its newest turns, earlier ones that were asked for, the prompts that wait, and words that
// are not durable yet.
//
// Invariant: entries are folded in without gap or repeat, from where the follow began; whatever comes out of turn leaves
// the value as it was, and the live client, which sees the gap too, asks for the missing part. Previews never reach the
// transcript: they are laid over it when it is shown, and each vanishes with the entry that holds its words.
import { seqOf } from "../api/live";
import type { Entry, ErrorDetail, FrameOf, OutputId, QueuedPrompt, Session, SessionId, Timestamp, WordsOf } from "../wire/names";
import type { WorkName } from "../wire/work";
import type { AgentView } from "./agent";
import type { Contents } from "./contents";
import { applyToContents, EMPTY_CONTENTS } from "./contents";
import type { SessionContext } from "./context";
import { agentOf, applyToAgent, UNKNOWN_AGENT } from "./agent";
import { isFor } from "./entryKinds";
import type { Earlier } from "./earlier";
import { earlierAsides, earlierForks, earlierHandOvers, findEarlier, NOTHING_EARLIER, removeOutput } from "./earlier";
import type { PreviewedOutput } from "./liveOutput";
import type { ShownApplet } from "./outputItem";
import { shownApplet } from "./outputItem";
import { addPrinted, outputKey } from "./liveOutput";
import type { Aside, Fork, HandOver, Item, Permission, Transcript, TranscriptTurn } from "./transcript";
import type { Fence } from "./words";
import { addWords, applyLargeToTranscript, applyToTranscript, EMPTY_TRANSCRIPT, readLarge } from "./transcript";

/** How far the reading has come. */
export type Reading =
  /** What is stored is on its way. */
  | { kind: "loading" }
  /** All that was stored has been seen at least once. */
  | { kind: "ready" }
  /** Its log can not be read to the end: all before that has been seen, and nothing will come. */
  | { kind: "fenced"; why: Fence; error: ErrorDetail }
  /** It was deleted. */
  | { kind: "deleted" }
  /** The server would not let it be followed. */
  | { kind: "refused"; error: ErrorDetail };

/** Live words by what they belong to, in the order in which they began. */
export type Previews = ReadonlyMap<string, Preview>;

type Preview = PreviewedWords | PreviewedOutput;

interface PreviewedWords {
  readonly of: WordsOf;
  readonly number: number;
  readonly text: string;
}

export interface Followed {
  readonly reading: Reading;
  /** The last entry folded in. */
  readonly seq: number;
  /** Where to go on from; null before the first entry. */
  readonly cursor: string | null;
  /** The newest turns, to the end. Those before its first are in `earlier`, if somebody asked for them. */
  readonly transcript: Transcript;
  readonly earlier: Earlier;
  /** A line a turn. */
  readonly contents: Contents;
  /** Prompts that wait, in order. */
  readonly queue: readonly QueuedPrompt[];
  /** The piece of work that it belongs to, as it was called when the follow began. */
  readonly work: WorkName | null;
  /** The session before it in its work, else the one that it was started from. */
  readonly previous: SessionId | null;
  /** The turn that it was forked from; 0 is the other session's beginning. */
  readonly forkedFrom: { readonly session: SessionId; readonly turn: number } | null;
  /** How its agent stands and what it offers. */
  readonly agent: AgentView;
  /** What it is about; null until the server has said so for this follow. */
  readonly context: SessionContext | null;
  /** When each of the agent's requests was answered or withdrawn, by its number. */
  readonly answeredAt: ReadonlyMap<number, Timestamp>;
  /** The last entry by which a next step came or was taken; 0 before the first. */
  readonly nextSeq: number;
  /** What is stored is on its way still, be it for the first time or after the connection was lost. */
  readonly catchingUp: boolean;
  /** The applet that the agent showed last, among the entries that were folded in. */
  readonly newestApplet: NewestApplet | null;
  /** What is being written to it, by the page that wrote it last; null until one did since the follow began. */
  readonly unsent: { readonly text: string; readonly writer: string } | null;
  /** Words of the running turn that no entry holds yet. They change many times a second: read them with `useLiveWords`. */
  readonly previews: Previews;
  /** The turn whose previews began before the follow did: they would show the end of a sentence without its start. */
  readonly muted: number | null;
}

/** An applet as it was shown last. */
export interface NewestApplet extends ShownApplet {
  readonly seq: number;
  readonly output: OutputId;
  /** It was shown just now, while the session was being followed. */
  readonly live: boolean;
}

export const NOT_READ: Followed = {
  reading: { kind: "loading" },
  seq: 0,
  cursor: null,
  transcript: EMPTY_TRANSCRIPT,
  earlier: NOTHING_EARLIER,
  contents: EMPTY_CONTENTS,
  queue: [],
  work: null,
  previous: null,
  forkedFrom: null,
  agent: UNKNOWN_AGENT,
  context: null,
  answeredAt: new Map(),
  nextSeq: 0,
  catchingUp: true,
  newestApplet: null,
  unsent: null,
  previews: new Map(),
  muted: null,
};

/** An entry as it was heard, with the cursor that it ends at. */
type Heard = Pick<FrameOf<"entry">, "cursor" | "entry">;

/** Entries that came together are folded together. */
export function applyEntries(followed: Followed, heard: readonly Heard[]): Followed {
  const taken: Entry[] = [];
  let next = followed;
  for (const { cursor, entry } of heard) {
    if (entry.seq === next.seq + 1) {
      taken.push(entry);
      next = applyBesideTranscript(next, cursor, entry);
    }
  }
  return taken.length === 0
    ? followed
    : { ...next, transcript: applyToTranscript(followed.transcript, taken), contents: applyToContents(followed.contents, taken) };
}

/** An entry that is too long to come keeps its place, and is read when somebody asks for it. */
export function applyLarge(followed: Followed, large: FrameOf<"large_entry">): Followed {
  if (large.seq !== followed.seq + 1) {
    return followed;
  }
  // Which prompt goes out is not told; the one that waited longest does.
  const queue = large.kind === "prompt.sent" ? followed.queue.slice(1) : followed.queue;
  return { ...followed, seq: large.seq, cursor: large.cursor, queue, transcript: applyLargeToTranscript(followed.transcript, large) };
}

/** Somebody asked for it. */
export function takeLarge(followed: Followed, entry: Entry): Followed {
  const transcript = readLarge(followed.transcript, entry);
  return transcript === followed.transcript ? followed : { ...followed, transcript };
}

function applyBesideTranscript(followed: Followed, cursor: string, entry: Entry): Followed {
  const next: Followed = {
    ...followed,
    seq: entry.seq,
    cursor,
    queue: applyToQueue(followed.queue, entry),
    agent: applyToAgent(followed.agent, entry),
    earlier: entry.type === "output.removed" ? removeOutput(followed.earlier, entry.data.id, entry.data.reason) : followed.earlier,
  };
  if (!isFor(entry, "live")) {
    return next;
  }
  switch (entry.type) {
    case "text.part":
      return { ...next, muted: null, previews: settle(followed.previews, "text", entry.data.block, entry.data.text) };
    case "thought.part":
      return { ...next, muted: null, previews: settle(followed.previews, "thought", entry.data.block, entry.data.text) };
    case "tool.part":
      return { ...next, muted: null, previews: settle(followed.previews, "tool", entry.data.tool, entry.data.text) };
    case "permission.answered":
      return { ...next, answeredAt: new Map(followed.answeredAt).set(entry.data.request, entry.at) };
    case "next.offered":
    case "next.clicked":
      return { ...next, nextSeq: entry.seq };
    case "applet.shown":
      return { ...next, newestApplet: { ...shownApplet(entry.data), seq: entry.seq, output: entry.data.output, live: !followed.catchingUp } };
    case "output.stored":
      return { ...next, previews: without(followed.previews, outputKey(entry.data.output.id)) };
    case "turn.started":
    case "turn.ended":
      return { ...next, muted: null, previews: NOT_READ.previews };
  }
}

export function applyPreview(followed: Followed, preview: FrameOf<"preview">): Followed {
  const running = runningTurn(followed.transcript);
  if (running?.turn !== preview.turn || followed.muted === preview.turn) {
    return followed;
  }
  const { kind, block, text } = preview;
  const key = keyOf(kind, block);
  const before = wordsAt(followed.previews, key)?.text ?? "";
  return { ...followed, previews: new Map(followed.previews).set(key, { of: kind, number: block, text: before + text }) };
}

export function applyOutputPreview(followed: Followed, preview: FrameOf<"output_preview">): Followed {
  const running = runningTurn(followed.transcript);
  const key = outputKey(preview.output);
  const before = followed.previews.get(key);
  if (running?.turn !== preview.turn || running.items.some((item) => item.type === "output" && item.output.id === preview.output)) {
    return followed;
  }
  const after = addPrinted(before?.of === "output" ? before : null, preview);
  return after === before ? followed : { ...followed, previews: new Map(followed.previews).set(key, after) };
}

/** A follow begins, for the first time or again: live words from before it are no longer known to be whole. */
export function beginFollow(followed: Followed, { snapshot, window }: { snapshot: Session; window?: FrameOf<"session">["window"] }): Followed {
  const standing = { work: snapshot.metaContext ?? null, previous: snapshot.previous ?? null, forkedFrom: forkOf(snapshot) };
  if (window) {
    const { after } = window;
    const transcript = applyToTranscript(EMPTY_TRANSCRIPT, window.asked ?? []);
    return { ...NOT_READ, ...standing, seq: seqOf(after), cursor: after, transcript, agent: agentOf(window.agent), queue: snapshot.queue };
  }
  const ready = followed.reading.kind === "ready";
  return { ...followed, ...standing, catchingUp: true, reading: ready ? followed.reading : { kind: "loading" }, previews: NOT_READ.previews };
}

function forkOf({ from }: Pick<Session, "from">): Followed["forkedFrom"] {
  return from && "turn" in from ? from : null;
}

export function caughtUp(followed: Followed): Followed {
  return { ...followed, reading: { kind: "ready" }, catchingUp: false, muted: runningTurn(followed.transcript)?.turn ?? null };
}

/** The follow ended, or never began. What was read of a session that can not be read to its end stays; it is all there is. */
export function refused(followed: Followed, error: ErrorDetail): Followed {
  const why = FENCES.get(error.code);
  return why === undefined
    ? { ...NOT_READ, reading: { kind: "refused", error } }
    : { ...followed, reading: { kind: "fenced", why, error }, previews: NOT_READ.previews };
}

const FENCES = new Map<string, Fence>([
  ["session_damaged", "damaged"],
  ["session_newer", "newer"],
]);

/** Whether the two differ in nothing but words that are not durable yet. */
export function isSameButPreviews(one: Followed, other: Followed): boolean {
  return one === other || (Object.keys(one) as (keyof Followed)[]).every((key) => key === "previews" || one[key] === other[key]);
}

/** The turn as it is shown: with the words that are not durable yet where they belong. */
export function withPreviews(turn: TranscriptTurn, previews: Previews): TranscriptTurn {
  if (turn.outcome !== null || previews.size === 0) {
    return turn;
  }
  const shown = [...previews.values()].reduce(layOver, turn.items);
  const items = shown.map((item) => {
    const live = item.type === "text" ? wordsAt(previews, keyOf("text", item.block)) : undefined;
    return live === undefined ? item : { ...item, unsettled: live.text.length };
  });
  return { ...turn, items };
}

function layOver(items: readonly Item[], preview: Preview): readonly Item[] {
  return preview.of === "output" ? [...items, preview.item] : addWords(items, preview.of, preview.number, preview.text);
}

/** How many turns there are, read or not. */
export function turnCount({ transcript }: Followed): number {
  return transcript.turns.at(-1)?.turn ?? 0;
}

/** The first turn of those that are followed: the ones before it are read when they are asked for. */
export function firstFollowed({ transcript }: Followed): number {
  return transcript.turns[0]?.turn ?? 1;
}

/** A turn, if it has been read. */
export function turnAt(followed: Followed, turn: number): TranscriptTurn | null {
  const first = firstFollowed(followed);
  return turn < first ? findEarlier(followed.earlier, turn) : (followed.transcript.turns[turn - first] ?? null);
}

/** The agent that the session was handed over from, while the one that has it has not taken a turn yet. */
export function agentBefore(agent: string, followed: Followed): string | null {
  const last = followed.transcript.handOvers.at(-1);
  return last !== undefined && last.to === agent && last.from !== agent && last.after === turnCount(followed) ? last.from : null;
}

/** To whom the session went after a turn, before the next. */
export function handOversAfter(followed: Followed, turn: number): readonly HandOver[] {
  const handOvers = turn < firstFollowed(followed) ? earlierHandOvers(followed.earlier, turn) : followed.transcript.handOvers;
  return handOvers.filter(({ after }) => after === turn);
}

/** The sessions that were forked from a turn of it after this turn, before the next. */
export function forksAfter(followed: Followed, turn: number): readonly Fork[] {
  const forks = turn < firstFollowed(followed) ? earlierForks(followed.earlier, turn) : followed.transcript.forks;
  return forks.filter(({ after }) => after === turn);
}

/** What stands below the newest turn: what waits, what was asked after that turn, and what had waited since before all that is followed. */
export function asidesAtEnd(followed: Followed): readonly Aside[] {
  const [total, first] = [turnCount(followed), firstFollowed(followed)];
  return followed.transcript.asides.filter(({ answer, after }) => answer === null || after === total || after < first - 1);
}

/** What was asked after a turn, before the next, and is settled. */
export function asidesAfter(followed: Followed, turn: number): readonly Aside[] {
  const first = firstFollowed(followed);
  const asides = turn > 0 && turn < first ? earlierAsides(followed.earlier, turn) : followed.transcript.asides;
  const isShownAtEnd = turn === turnCount(followed) || (turn === 0 && first > 1);
  return isShownAtEnd ? [] : asides.filter(({ answer, after }) => answer !== null && after === turn);
}

/** What the agent asked last that waits, in a turn or beside them. */
export function newestOpen(followed: Followed): { readonly title: string } | null {
  const running = runningTurn(followed.transcript);
  const open = followed.transcript.asides.filter(({ answer }) => answer === null);
  return (running === null ? undefined : openRequests(running).at(-1)) ?? open.at(-1) ?? null;
}

/** The turns that have been read from the end back to the first that has not, oldest first. */
export function readToTheEnd({ transcript, earlier }: Pick<Followed, "transcript" | "earlier">): readonly TranscriptTurn[] {
  const before: TranscriptTurn[] = [];
  let turn = (transcript.turns[0]?.turn ?? 1) - 1;
  for (let read = findEarlier(earlier, turn); read !== null; read = findEarlier(earlier, turn)) {
    before.push(read);
    turn -= 1;
  }
  return before.length === 0 ? transcript.turns : [...before.reverse(), ...transcript.turns];
}

export function runningTurn(transcript: Transcript): TranscriptTurn | null {
  const last = transcript.turns.at(-1);
  return last !== undefined && last.outcome === null ? last : null;
}

/** What the agent asked and nobody has answered, newest last. */
export function openRequests(turn: TranscriptTurn): Permission[] {
  return turn.outcome === null ? turn.items.filter((item): item is Permission => item.type === "permission" && item.answer === null) : [];
}

/** Takes from a preview what has become durable; what was said since stays. */
function settle(previews: Previews, of: WordsOf, number: number, text: string): Previews {
  const key = keyOf(of, number);
  const shown = wordsAt(previews, key);
  if (shown === undefined) {
    return previews;
  }
  const left = new Map(previews);
  if (shown.text.startsWith(text) && shown.text.length > text.length) {
    left.set(key, { ...shown, text: shown.text.slice(text.length) });
  } else {
    left.delete(key);
  }
  return left;
}

function wordsAt(previews: Previews, key: string): PreviewedWords | undefined {
  const found = previews.get(key);
  return found === undefined || found.of === "output" ? undefined : found;
}

function without(previews: Previews, key: string): Previews {
  if (!previews.has(key)) {
    return previews;
  }
  const left = new Map(previews);
  left.delete(key);
  return left;
}

function keyOf(of: WordsOf, number: number): string {
  return `${of} ${number}`;
}

function applyToQueue(queue: readonly QueuedPrompt[], entry: Entry): readonly QueuedPrompt[] {
  if (!isFor(entry, "queue")) {
    return queue;
  }
  switch (entry.type) {
    case "prompt.queued":
      // One that waits still was in the snapshot, in its place.
      return queue.some(({ interactionId }) => interactionId === entry.data.interactionId)
        ? queue
        : [...queue, { ...entry.data, queuedAt: entry.at }];
    case "prompt.changed": {
      const { interactionId } = entry.data;
      return queue.map((prompt) => (prompt.interactionId === interactionId ? { ...prompt, ...entry.data } : prompt));
    }
    case "prompt.removed":
    case "prompt.sent": {
      const { interactionId } = entry.data;
      return queue.some((prompt) => prompt.interactionId === interactionId)
        ? queue.filter((prompt) => prompt.interactionId !== interactionId)
        : queue;
    }
  }
}
