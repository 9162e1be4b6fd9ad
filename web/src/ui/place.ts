// Places in a transcript by their names in the address: `#t12` is a turn, `#t12.3` the third call of it.
import { createContext } from "react";

export interface Place {
  readonly turn: number;
  readonly tool: number | null;
}

const SOUGHT = "throughline:sought";

export function placeOf(hash: string): Place | null {
  const [, turn, tool] = /^#t(\d+)(?:\.(\d+))?$/.exec(hash) ?? [];
  return turn === undefined ? null : { turn: Number(turn), tool: tool === undefined ? null : Number(tool) };
}

export function placeHref({ turn, tool }: Place): string {
  return tool === null ? `#t${turn}` : `#t${turn}.${tool}`;
}

/** Goes there, also if the address says so already. */
export function seek(place: Place): void {
  history.replaceState(history.state, "", placeHref(place));
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
