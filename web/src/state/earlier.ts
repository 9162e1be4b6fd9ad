// Turns from before those that are followed, read in pages when they are asked for.
//
// Invariant: a page is what the whole log's fold has at its place. A turn's entries stand together in the log, so a page
// folds alone; and what was ended before the followed turns began changes no more, so it is right for as long as it is
// kept. One thing changes: an output may be removed long after its turn. Pages that are there are told of it; in those that
// are read later, its card finds out when it asks for the bytes. Far fewer pages are kept than a session may have.
import type { Entry, OutputRemoval, Timestamp } from "../wire/names";
import { withoutOutputInAny } from "./outputItem";
import type { Aside, Fork, HandOver, TranscriptTurn } from "./transcript";
import { applyToTranscript, EMPTY_TRANSCRIPT } from "./transcript";

/** Page n has the turns from 20 n + 1 on. */
const PAGE_TURNS = 20;
const MOST_PAGES = 25;

export type EarlierPage =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly words: string }
  | { readonly kind: "read"; readonly turns: readonly TranscriptTurn[]; readonly handOvers: readonly HandOver[]; readonly asides: readonly Aside[]; readonly forks: readonly Fork[] };

/** By page; one that nobody asked for, or that was let go, is not there. */
export type Earlier = ReadonlyMap<number, EarlierPage>;

export const NOTHING_EARLIER: Earlier = new Map();

export function earlierPageOf(turn: number): number {
  return Math.floor((turn - 1) / PAGE_TURNS);
}

/** From which turn to which a page goes, where the turns from `followed` on are followed. */
export function turnsOfPage(page: number, followed: number): { from: number; to: number } {
  return { from: page * PAGE_TURNS + 1, to: Math.min((page + 1) * PAGE_TURNS, followed - 1) };
}

/** The pages that hold these turns and are neither read nor on their way, of those before `followed`. */
export function missingPages(earlier: Earlier, from: number, to: number, followed: number): number[] {
  const last = Math.min(to, followed - 1);
  const pages: number[] = [];
  for (let page = earlierPageOf(Math.max(1, from)); page <= earlierPageOf(last); page += 1) {
    const kind = earlier.get(page)?.kind;
    if (kind !== "read" && kind !== "loading") {
      pages.push(page);
    }
  }
  return last < 1 ? [] : pages;
}

export function findEarlier(earlier: Earlier, turn: number): TranscriptTurn | null {
  const page = earlier.get(earlierPageOf(turn));
  return page?.kind === "read" ? (page.turns[(turn - 1) % PAGE_TURNS] ?? null) : null;
}

export function earlierHandOvers(earlier: Earlier, turn: number): readonly HandOver[] {
  const page = earlier.get(earlierPageOf(turn));
  return page?.kind === "read" ? page.handOvers : [];
}

export function earlierAsides(earlier: Earlier, turn: number): readonly Aside[] {
  const page = earlier.get(earlierPageOf(turn));
  return page?.kind === "read" ? page.asides : [];
}

export function earlierForks(earlier: Earlier, turn: number): readonly Fork[] {
  const page = earlier.get(earlierPageOf(turn));
  return page?.kind === "read" ? page.forks : [];
}

/** Puts a page in its place, and lets go of those furthest from it if there are too many. */
export function putPage(earlier: Earlier, number: number, page: EarlierPage): Earlier {
  const pages = new Map(earlier).set(number, page);
  while (pages.size > MOST_PAGES) {
    pages.delete([...pages.keys()].reduce((far, one) => (Math.abs(one - number) > Math.abs(far - number) ? one : far)));
  }
  return pages;
}

/** The pages, where the card of an output says that it is not kept any more. */
export function removeOutput(earlier: Earlier, id: string, reason: OutputRemoval): Earlier {
  let changed: Map<number, EarlierPage> | null = null;
  for (const [number, page] of earlier) {
    if (page.kind === "read") {
      const turns = withoutOutputInAny(page.turns, id, reason);
      if (turns !== null) {
        changed = (changed ?? new Map(earlier)).set(number, { ...page, turns });
      }
    }
  }
  return changed ?? earlier;
}

/** Folds the entries of a page; beside it, when each of the agent's requests was answered. */
export function foldPage(entries: readonly Entry[]): { page: EarlierPage; answeredAt: ReadonlyMap<number, Timestamp> } {
  const answeredAt = new Map<number, Timestamp>();
  for (const entry of entries) {
    if (entry.type === "permission.answered") {
      answeredAt.set(entry.data.request, entry.at);
    }
  }
  const { turns, handOvers, asides, forks } = applyToTranscript(EMPTY_TRANSCRIPT, entries);
  return { page: { kind: "read", turns, handOvers, asides, forks }, answeredAt };
}
