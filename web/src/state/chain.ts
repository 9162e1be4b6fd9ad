// Sessions that are read as one: the open one, and above it those that it goes on from.
//
// Invariant: a row's key never changes while its session is in the chain, whatever is put above it; so what is in view
// can stay where it is.
import type { SessionId, SessionRow } from "../wire/names";
import type { Followed } from "./followed";
import { asidesAtEnd, firstFollowed, turnCount } from "./followed";
import { isDeleted } from "./sessionList";
import type { Aside } from "./transcript";

/** A session of the chain. */
export interface Link {
  readonly session: SessionId;
  readonly followed: Followed;
}

export type ChainRow =
  /** Where a session begins. */
  | { readonly kind: "head"; readonly link: number }
  | { readonly kind: "turn"; readonly link: number; readonly turn: number }
  /** A prompt that waits, from 0; only the open session's are shown. */
  | { readonly kind: "queued"; readonly link: number; readonly nth: number }
  /** What the agent asked beside the turns, below all of them. */
  | { readonly kind: "asked"; readonly link: number };

export interface ChainLayout {
  readonly count: number;
  /** The first row of each link. */
  readonly starts: readonly number[];
  rowAt(index: number): ChainRow | null;
  keyOf(index: number): string | number;
  /** The row of a turn of a link. */
  indexOf(link: number, turn: number): number;
}

/** A chain of one has no head, unless something lies before it, it belongs to a work or it was forked. */
export function hasHead(links: readonly Link[], index: number): boolean {
  const followed = links[index]?.followed;
  return links.length > 1 || (followed !== undefined && (followed.previous !== null || followed.work !== null || followed.forkedFrom !== null));
}

/** What a session's agent asked that is shown below its turns; of one above the open one, what is settled. */
export function askedAtEnd(followed: Followed, open: boolean): readonly Aside[] {
  return asidesAtEnd(followed).filter(({ answer }) => open || answer !== null);
}

/** The layout changes only with this; not with every word. */
export function shapeOf(links: readonly Link[]): string {
  return links
    .map(({ session, followed }, index) => {
      const open = index === links.length - 1;
      const queue = open ? followed.queue.map(({ interactionId }) => interactionId).join() : "";
      return `${session} ${hasHead(links, index)} ${firstFollowed(followed)} ${turnCount(followed)} ${queue} ${askedAtEnd(followed, open).length > 0}`;
    })
    .join("|");
}

export function layoutOf(links: readonly Link[]): ChainLayout {
  const starts: number[] = [];
  let count = 0;
  for (const [index, { followed }] of links.entries()) {
    starts.push(count);
    const open = index === links.length - 1;
    count += Number(hasHead(links, index)) + turnCount(followed) + (open ? followed.queue.length : 0) + Number(askedAtEnd(followed, open).length > 0);
  }
  const firstTurn = (link: number) => (starts[link] ?? 0) + Number(hasHead(links, link));
  const rowAt = (index: number): ChainRow | null => {
    const link = starts.findLastIndex((start) => start <= index);
    const followed = links[link]?.followed;
    if (followed === undefined || index < 0 || index >= count) {
      return null;
    }
    const turn = index - firstTurn(link) + 1;
    const turns = turnCount(followed);
    if (turn < 1) {
      return { kind: "head", link };
    }
    const waiting = link === links.length - 1 ? followed.queue.length : 0;
    return turn <= turns ? { kind: "turn", link, turn } : turn <= turns + waiting ? { kind: "queued", link, nth: turn - turns - 1 } : { kind: "asked", link };
  };
  // Each is made once: all of them are asked for whenever a row changes its size.
  const keys: (string | number)[] = [];
  return {
    count,
    starts,
    rowAt,
    indexOf: (link, turn) => firstTurn(link) + turn - 1,
    keyOf: (index) => (keys[index] ??= keyOfRow(links, rowAt(index)) ?? index),
  };
}

function keyOfRow(links: readonly Link[], row: ChainRow | null): string | null {
  const link = row === null ? undefined : links[row.link];
  if (row === null || link === undefined) {
    return null;
  }
  const { session, followed } = link;
  switch (row.kind) {
    case "head":
      return session;
    case "turn": {
      // A prompt keeps its id when it becomes a turn, so its row keeps its place.
      const first = firstFollowed(followed);
      return row.turn < first ? `${session} ${row.turn}` : (followed.transcript.turns[row.turn - first]?.interactionId ?? null);
    }
    case "queued":
      return followed.queue[row.nth]?.interactionId ?? null;
    case "asked":
      return `${session} asked`;
  }
}

/** As many sessions are read as one, at most. */
const MOST_LINKS = 40;

/** What is known of sessions. */
export interface Known {
  readonly followed: ReadonlyMap<SessionId, Followed>;
  readonly list: { readonly rows: ReadonlyMap<SessionId, SessionRow> };
}

/** It was deleted, or the server knows nothing of it. */
export function isGone(session: SessionId, { followed, list }: Known): boolean {
  const row = list.rows.get(session);
  const reading = followed.get(session)?.reading.kind;
  return reading === "deleted" || reading === "refused" || (row !== undefined && isDeleted(row));
}

/** Whether there is something to show of it. */
export function isRead(followed: Followed | undefined): followed is Followed {
  return followed?.reading.kind === "ready" || followed?.reading.kind === "fenced";
}

/**
 * The session to be put above the chain, whose sessions are given oldest first; null where nothing is, or nothing yet. It is
 * the one that the first was begun from, as on the page where that was done; else the one before it in its work.
 */
export function sessionBefore(chain: readonly SessionId[], known: Known): SessionId | null {
  const [top] = chain;
  const followed = top === undefined ? undefined : known.followed.get(top);
  if (top === undefined || !isRead(followed) || chain.length >= MOST_LINKS) {
    return null;
  }
  const from = known.list.rows.get(top)?.from;
  const origin = from && "block" in from ? from.session : undefined;
  const before = origin === undefined || isGone(origin, known) ? followed.previous : origin;
  return before === null || chain.includes(before) || isGone(before, known) ? null : before;
}

/** Sessions of which each was begun from the one before it, on this page. */
export type Thread = readonly SessionId[];

export function goOn(thread: Thread, from: SessionId, to: SessionId): Thread {
  const at = thread.indexOf(from);
  return at < 0 ? [from, to] : [...thread.slice(0, at + 1), to];
}

/** What is above a session once it is gone to from another of its thread. */
export function aboveNext(above: readonly SessionId[], from: SessionId, to: SessionId): readonly SessionId[] {
  const back = above.indexOf(to);
  return back < 0 ? [...above, from].slice(-(MOST_LINKS - 1)) : above.slice(0, back);
}
