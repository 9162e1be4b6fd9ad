// Places in a transcript by their names in the address: `#t12` is a turn, `#t12.3` the third call of it, `#t12.out_….L4-9` some
// lines of what was shown in it.
import { createContext } from "react";

export interface Place {
  readonly turn: number;
  readonly tool: number | null;
  /** Something that was shown in the turn. */
  readonly shown?: ShownPlace;
}

export interface ShownPlace {
  readonly id: string;
  /** Null for all of it. */
  readonly lines: LineRange | null;
}

/** By their numbers as they are shown, both included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

const SOUGHT = "throughline:sought";

export function placeOf(hash: string): Place | null {
  const [, turn, tool, id, first, last] = /^#t(\d+)(?:\.(?:(\d+)|(out_[0-9a-f]{32})(?:\.L(\d{1,12})(?:-(\d{1,12}))?)?))?$/.exec(hash) ?? [];
  if (turn === undefined) {
    return null;
  }
  const place = { turn: Number(turn), tool: tool === undefined ? null : Number(tool) };
  return id === undefined ? place : { ...place, shown: { id, lines: first === undefined ? null : rangeOf(Number(first), Number(last ?? first)) } };
}

/** The lines from one to another, in either order. */
export function rangeOf(one: number, other: number): LineRange {
  return { first: Math.min(one, other), last: Math.max(one, other) };
}

export function placeHref({ turn, tool, shown }: Place): string {
  if (shown !== undefined) {
    const { id, lines } = shown;
    return `#t${turn}.${id}${lines === null ? "" : `.L${lines.first}${lines.last === lines.first ? "" : `-${lines.last}`}`}`;
  }
  return tool === null ? `#t${turn}` : `#t${turn}.${tool}`;
}

/** Goes there, also if the address says so already. */
export function seek(place: Place): void {
  namePlace(place);
  window.dispatchEvent(new Event(SOUGHT));
}

/** The reader has left the place that the address names: it names the session alone again. */
export function leavePlace(): void {
  if (placeOf(location.hash) !== null) {
    history.replaceState(history.state, "", location.pathname + location.search);
  }
}

/** The one way to a turn of the open session, whoever asks: the contents, a title, what was found. */
export function jumpToTurn(turn: number): void {
  seek({ turn, tool: null });
}

/** The whole address of a turn, to be kept or sent; of the open session, unless another is named. */
export function turnAddress(turn: number, session: string | null): string {
  return location.origin + (session === null ? location.pathname : `/s/${session}`) + placeHref({ turn, tool: null });
}

/** The address says it from now on; the reader is there already. */
export function namePlace(place: Place): void {
  history.replaceState(history.state, "", placeHref(place));
}

/** Calls back whenever the reader asks for a place; gives a way to stop it. */
export function onSeek(found: (place: Place) => void): () => void {
  const look = () => {
    const place = placeOf(location.hash);
    if (place !== null) {
      found(place);
    }
  };
  window.addEventListener("hashchange", look);
  window.addEventListener(SOUGHT, look);
  return () => {
    window.removeEventListener("hashchange", look);
    window.removeEventListener(SOUGHT, look);
  };
}

/** The place that was asked for last: what it lies in stands open. */
export const SoughtContext = createContext<Place | null>(null);
