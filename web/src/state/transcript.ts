// What a reader sees of a session: its turns, each with the prompt and what the agent said and did, in order, and what it
// asked between them.
//
// Invariant: this is the fold of crates/model/src/transcript.rs, word for word; fixtures/transcripts/ holds both to it. It
// may begin with any turn: only of whom the session talked to before that nothing is known. In this one alone are entries
// that only a newer server knows, what an applet was shown with, and that it was saved.
// Values are never changed in place: a turn that did not change is the same object, so that it is not drawn again.
import type { Card, Next, Span } from "../wire/blocks";
import type {
  Author,
  BodyRef,
  Entry,
  EventOf,
  Image,
  InteractionId,
  LargeEntry,
  Location,
  Notice,
  Outcome,
  PermissionAnswer,
  PlanStep,
  Question,
  SessionId,
  Timestamp,
  ToolChange,
  ToolContent,
  ToolKind,
  ToolStatus,
  Usage,
  WordsOf,
} from "../wire/names";
import { bodiesAfter, withPart } from "./bodies";
import type { EntryFor } from "./entryKinds";
import { isFor, isKnown } from "./entryKinds";
import type { LiveOutputItem } from "./liveOutput";
import { changeLast } from "./changeLast";
import { addToContent } from "./toolContent";
import type { OutputItem } from "./outputItem";
import { withApplet, withoutOutputInAny } from "./outputItem";

export interface ToolCall {
  readonly type: "tool";
  /** Its number in its turn, from 1. */
  readonly tool: number;
  readonly callId: string;
  readonly title: string;
  readonly name: string | null;
  readonly kind: ToolKind;
  readonly status: ToolStatus;
  readonly content: readonly ToolContent[];
  readonly locations: readonly Location[];
  readonly input: unknown;
  readonly output: unknown;
  /** What of it is kept beside the log; its place here holds a head. */
  readonly bodies?: readonly BodyRef[];
}

/** What was asked, and what became of it. */
export type Asked = { readonly request: number; readonly answer: PermissionAnswer | null } & Readonly<Question>;

export type Permission = { readonly type: "permission" } & Asked;

/** A question that belongs to no turn. */
export type Aside = {
  /** The newest turn then; 0 before the first. */
  readonly after: number;
} & Asked;

export interface TextItem {
  readonly type: "text";
  readonly block: number;
  readonly text: string;
  /** How much of its end is not durable yet; said only where words are laid over a turn that runs. */
  readonly unsettled?: number;
}

/** An entry that is too long to come with the others: it is read when somebody asks for it. */
export interface LargeItem {
  readonly type: "large";
  readonly seq: number;
  /** What kind of entry it is. */
  readonly kind: string;
  readonly bytes: number;
}

/** Entries of a kind that this page does not know, one after the other. */
export interface NewerItem {
  readonly type: "newer";
  readonly kind: string;
  readonly count: number;
}

export type Item =
  | TextItem
  | LargeItem
  | NewerItem
  | LiveOutputItem
  | { readonly type: "thought"; readonly block: number; readonly text: string }
  | ToolCall
  | { readonly type: "plan"; readonly steps: readonly PlanStep[] }
  | Permission
  | ({ readonly type: "notice" } & Readonly<Notice>)
  | OutputItem
  | { readonly type: "applet_saved"; readonly slug: string; readonly name: string }
  | { readonly type: "compaction"; readonly summary: string | null };

/** Words that are shown as more than words. */
export interface Block extends Readonly<Span> {
  /** Its number among those of its sort, from 1. */
  readonly nth: number;
  readonly shown: Shown;
}

/** A step to be taken, or something to be looked at. */
export type Shown = { readonly next: Readonly<Next> } | { readonly card: Readonly<Card> };

export interface TranscriptTurn {
  readonly turn: number;
  readonly interactionId: InteractionId;
  /** Who wrote the prompt. */
  readonly by: Readonly<Author>;
  /** The words. */
  readonly prompt: string;
  readonly images: readonly Image[];
  /** What the agent was told of earlier turns, ahead of the prompt. */
  readonly resume: string | null;
  /** What the agent said and did, each where it began. */
  readonly items: readonly Item[];
  /** Which of its words are shown as more than words, in their order. */
  readonly blocks: readonly Block[];
  /** How full the agent's window was at last. */
  readonly usage: Usage | null;
  /** How it ended; null while it runs. */
  readonly outcome: Outcome | null;
  /** Why it ended so, where there is more to say. */
  readonly reason: string | null;
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp | null;
}

/** The session went from one agent to another. */
export interface HandOver {
  /** The newest turn then; 0 before the first. */
  readonly after: number;
  /** Null where what came before has not been read. */
  readonly from: string | null;
  readonly to: string;
}

/** Another session was begun, after the newest turn then, from a turn; 0 is the session's beginning. */
export type Fork = { readonly after: number; readonly turn: number; readonly session: SessionId };

export interface Transcript {
  /** Oldest first. */
  readonly turns: readonly TranscriptTurn[];
  /** Whom the session talks to; null until it is told. */
  readonly agent: string | null;
  /** Oldest first. */
  readonly handOvers: readonly HandOver[];
  /** What was asked while no turn ran, oldest first. */
  readonly asides: readonly Aside[];
  /** Sessions that go on from a turn of this one, oldest first. */
  readonly forks: readonly Fork[];
  /** What stands before the first turn and only a newer server knows; it goes into that turn. */
  readonly newer: readonly NewerItem[];
}

export const EMPTY_TRANSCRIPT: Transcript = { turns: [], agent: null, handOvers: [], asides: [], forks: [], newer: [] };

/** Folds in the next entries of the session. The turns are copied once for all of them: a long session has many. */
export function applyToTranscript(transcript: Transcript, entries: readonly Entry[]): Transcript {
  let turns: TranscriptTurn[] | null = null;
  let { agent, handOvers, asides, forks, newer } = transcript;
  const changeLastTurn = (last: TranscriptTurn, changed: TranscriptTurn) => {
    if (changed !== last) {
      turns ??= [...transcript.turns];
      turns[turns.length - 1] = changed;
    }
  };
  for (const entry of entries) {
    const last: TranscriptTurn | undefined = (turns ?? transcript.turns).at(-1);
    if (!isKnown(entry)) {
      // What it means is not known, so it stands where it came: at the end of the last turn, though that may be over.
      if (last === undefined) {
        newer = addNewer(newer, entry.type);
      } else {
        changeLastTurn(last, { ...last, items: addNewer(last.items, entry.type) });
      }
    } else if (entry.type === "turn.started") {
      const { turn, interactionId } = entry.data;
      turns ??= [...transcript.turns];
      turns.push({ ...startedTurn(turn, interactionId, entry.at), items: newer });
      newer = EMPTY_TRANSCRIPT.newer;
    } else if (entry.type === "session.created") {
      agent = entry.data.agent;
    } else if (entry.type === "session.changed" && typeof entry.data.agent === "string") {
      const to = entry.data.agent;
      handOvers = [...handOvers, { after: last?.turn ?? 0, from: agent, to }];
      agent = to;
    } else if (entry.type === "session.forked") {
      forks = [...forks, { after: last?.turn ?? 0, turn: entry.data.turn, session: entry.data.session }];
    } else if (entry.type === "output.removed") {
      // Also of a turn that is long over.
      const { id, reason } = entry.data;
      turns = withoutOutputInAny(turns ?? transcript.turns, id, reason) ?? turns;
    } else if (entry.type === "permission.asked" && typeof entry.data.turn !== "number") {
      const { turn: _, ...asked } = entry.data;
      asides = [...asides, { after: last?.turn ?? 0, ...asked, answer: null }];
    } else if (entry.type === "permission.answered" && typeof entry.data.turn !== "number") {
      // Also while a later turn runs.
      const { turn: _, request, ...answer } = entry.data;
      const at = asides.findLastIndex((aside) => aside.request === request);
      const aside = asides[at];
      asides = aside === undefined ? asides : asides.with(at, { ...aside, answer });
    } else if (last !== undefined && isFor(entry, "turn") && isMeant(last, entry)) {
      changeLastTurn(last, applyToTurn(last, entry));
    }
  }
  const after: Transcript = { turns: turns ?? transcript.turns, agent, handOvers, asides, forks, newer };
  return (Object.keys(after) as (keyof Transcript)[]).every((part) => after[part] === transcript[part]) ? transcript : after;
}

function addNewer<T extends Item>(items: readonly T[], kind: string): readonly (T | NewerItem)[] {
  const last: Item | undefined = items.at(-1);
  const count = last?.type === "newer" && last.kind === kind ? last.count : 0;
  return [...items.slice(0, count > 0 ? -1 : undefined), { type: "newer", kind, count: count + 1 }];
}

/** Puts a mark where an entry stands that did not come. */
export function applyLargeToTranscript(transcript: Transcript, { seq, kind, bytes, turn }: LargeEntry): Transcript {
  const last = transcript.turns.at(-1);
  if (last === undefined || (turn ?? last.turn) !== last.turn) {
    return transcript;
  }
  const items = [...last.items, { type: "large" as const, seq, kind, bytes }];
  return { ...transcript, turns: transcript.turns.with(-1, { ...last, items }) };
}

/** Folds such an entry in, now that it was read, where its mark stands. */
export function readLarge(transcript: Transcript, entry: Entry): Transcript {
  const isMark = (item: Item) => item.type === "large" && item.seq === entry.seq;
  const at = transcript.turns.findLastIndex(({ items }) => items.some(isMark));
  const turn = transcript.turns[at];
  if (turn === undefined) {
    return transcript;
  }
  const mark = turn.items.findIndex(isMark);
  const before = { ...turn, items: turn.items.slice(0, mark) };
  const read = isFor(entry, "turn") ? applyToTurn(before, entry) : isKnown(entry) ? before : { ...before, items: addNewer(before.items, entry.type) };
  return { ...transcript, turns: transcript.turns.with(at, { ...read, items: [...read.items, ...turn.items.slice(mark + 1)] }) };
}

/** An event that names no turn is told of the one that runs. */
function isMeant(last: TranscriptTurn, entry: Entry): boolean {
  return "turn" in entry.data ? entry.data.turn === last.turn : last.outcome === null;
}

function startedTurn(turn: number, interactionId: InteractionId, startedAt: Timestamp): TranscriptTurn {
  return {
    turn,
    interactionId,
    by: { type: "person" },
    prompt: "",
    images: [],
    resume: null,
    items: [],
    blocks: [],
    usage: null,
    outcome: null,
    reason: null,
    startedAt,
    endedAt: null,
  };
}

function applyToTurn(turn: TranscriptTurn, entry: EntryFor<"turn">): TranscriptTurn {
  switch (entry.type) {
    case "turn.ended":
      return {
        ...turn,
        items: turn.items.map((item) => (item.type === "tool" && !isFinal(item.status) ? { ...item, status: "cancelled" } : item)),
        outcome: entry.data.outcome,
        reason: entry.data.reason ?? null,
        endedAt: entry.at,
      };
    case "prompt.sent":
      return { ...turn, by: entry.data.by, prompt: entry.data.text, images: entry.data.images ?? [] };
    case "resume.sent":
      return { ...turn, resume: entry.data.text };
    case "text.part":
      return { ...turn, items: addWords(turn.items, "text", entry.data.block, entry.data.text) };
    case "thought.part":
      return { ...turn, items: addWords(turn.items, "thought", entry.data.block, entry.data.text) };
    case "tool.part":
      return { ...turn, items: addWords(turn.items, "tool", entry.data.tool, entry.data.text, entry.data.body ?? null) };
    case "tool.started":
      return { ...turn, items: [...turn.items, changeTool(newTool(entry.data), entry.data)] };
    case "tool.changed":
    case "tool.ended": {
      const { tool } = entry.data;
      const { data } = entry;
      return { ...turn, items: changeLast(turn.items, isTool(tool), (call) => changeTool(call, data)) };
    }
    case "plan.changed": {
      const plan = { type: "plan" as const, steps: entry.data.steps };
      const at = turn.items.findIndex((item) => item.type === "plan");
      return { ...turn, items: at < 0 ? [...turn.items, plan] : turn.items.with(at, plan) };
    }
    case "permission.asked":
      return { ...turn, items: [...turn.items, askedPermission(entry.data)] };
    case "permission.answered":
      return { ...turn, items: answered(turn.items, entry.data) };
    case "next.offered": {
      const { turn: _, nth, block, start, end, ...next } = entry.data;
      return { ...turn, blocks: [...turn.blocks, { nth, block, start, end, shown: { next } }] };
    }
    case "block.shown": {
      const { turn: _, nth, block, start, end, ...card } = entry.data;
      return { ...turn, blocks: [...turn.blocks, { nth, block, start, end, shown: { card } }] };
    }
    case "output.stored":
      return { ...turn, items: [...turn.items, { type: "output", output: entry.data.output }] };
    case "applet.shown":
      return { ...turn, items: withApplet(turn.items, entry.data) };
    case "applet.saved":
      return { ...turn, items: [...turn.items, { type: "applet_saved", slug: entry.data.slug, name: entry.data.name }] };
    case "usage.reported":
      return { ...turn, usage: entry.data };
    case "agent.noticed":
      return { ...turn, items: [...turn.items, { type: "notice", ...entry.data.notice }] };
    case "compaction.seen":
      return { ...turn, items: [...turn.items, { type: "compaction", summary: entry.data.summary ?? null }] };
  }
}

/** Adds words to the end of the block, or of what the tool call shows; words of a call that nobody began are dropped. */
export function addWords(items: readonly Item[], of: WordsOf, number: number, text: string, body: BodyRef | null = null): readonly Item[] {
  if (of === "tool") {
    return changeLast(items, isTool(number), (call) => ({ ...withPart(call, body), content: addToContent(call.content, text) }));
  }
  const at = items.findLastIndex((item) => item.type === of && item.block === number);
  const open = items[at];
  if (open?.type !== "text" && open?.type !== "thought") {
    return [...items, { type: of, block: number, text }];
  }
  return items.with(at, { ...open, text: open.text + text });
}

function newTool({ tool, callId }: { tool: number; callId: string }): ToolCall {
  const empty = { title: "", name: null, content: [], locations: [], input: null, output: null };
  return { type: "tool", tool, callId, kind: "other", status: "pending", ...empty };
}

function changeTool(call: ToolCall, change: ToolChange): ToolCall {
  const { title, name, kind, status, content, locations, input, output } = change;
  const { bodies: _, ...rest } = call;
  return {
    ...rest,
    ...bodiesAfter(call, change),
    title: title ?? call.title,
    name: name ?? call.name,
    kind: kind ?? call.kind,
    status: status ?? call.status,
    content: content ?? call.content,
    locations: locations ?? call.locations,
    input: input ?? call.input,
    output: output ?? call.output,
  };
}

function askedPermission({ turn: _, ...asked }: EventOf<"permission.asked">["data"]): Permission {
  return { type: "permission", ...asked, answer: null };
}

function answered(items: readonly Item[], { turn: _, request, ...answer }: EventOf<"permission.answered">["data"]): readonly Item[] {
  const isAsked = (item: Item): item is Permission => item.type === "permission" && item.request === request;
  return changeLast(items, isAsked, (asked) => ({ ...asked, answer }));
}

function isTool(tool: number): (item: Item) => item is ToolCall {
  return (item): item is ToolCall => item.type === "tool" && item.tool === tool;
}

function isFinal(status: ToolStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
