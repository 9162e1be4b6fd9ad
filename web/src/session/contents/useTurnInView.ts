// Which turn the reader is at: the one that was jumped to, until they move; then the one at the upper part of the
// transcript. It may be one of a session above the open one.
//
// It looks at what is drawn, so it holds for whatever draws it: the scroller is the page's `log`, a turn an `article`
// whose id is its name, or which names its session and its number.
import type { RefObject } from "react";
import { useEffect, useRef, useState } from "react";

import { onSeek, placeOf } from "../../ui/place";
import type { SessionId } from "../../wire/names";

/** How far down the transcript the reader's eyes are taken to be. */
const EYES = 0.25;
/** Whatever the reader moves the transcript with. */
const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

export interface TurnRead {
  /** The session that it is of, if that is not the open one. */
  readonly past: SessionId | null;
  readonly turn: number;
}

/** `turns` is how many there are: a new one may be where the reader is, though nothing was scrolled. */
export function useTurnInView(around: RefObject<HTMLElement | null>, turns: number): TurnRead | null {
  const [read, setRead] = useState<TurnRead | null>(null);
  const again = useRef<() => void>(() => undefined);
  useEffect(() => {
    const element = around.current;
    if (element === null) {
      return undefined;
    }
    let sought = placeOf(location.hash)?.turn ?? null;
    let frame = 0;
    const look = () => {
      frame = 0;
      const now = turnInView(element, sought);
      setRead((before) => (now === null || (before?.turn === now.turn && before.past === now.past) ? before : now));
    };
    const lookSoon = () => {
      frame ||= requestAnimationFrame(look);
    };
    const move = (event: Event) => {
      if (event.target instanceof Element && event.target.closest("[role=log]") !== null) {
        sought = null;
        lookSoon();
      }
    };
    const stopSeeking = onSeek((place) => {
      sought = place.turn;
      setRead({ past: null, turn: place.turn });
    });
    // Scrolling does not bubble.
    element.addEventListener("scroll", lookSoon, { capture: true, passive: true });
    for (const kind of MOVES) {
      element.addEventListener(kind, move, { passive: true });
    }
    again.current = lookSoon;
    return () => {
      cancelAnimationFrame(frame);
      stopSeeking();
      element.removeEventListener("scroll", lookSoon, { capture: true });
      for (const kind of MOVES) {
        element.removeEventListener(kind, move);
      }
    };
  }, [around]);
  useEffect(() => {
    again.current();
  }, [turns]);
  return read;
}

export function turnInView(around: HTMLElement, sought: number | null): TurnRead | null {
  const log = around.querySelector("[role=log]");
  if (log === null) {
    return null;
  }
  const { top, bottom, height } = log.getBoundingClientRect();
  // A short last turn never reaches the eyes: at the end, the last is where the reader is.
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 2;
  const eyes = atEnd ? bottom : top + height * EYES;
  let found: TurnRead | null = null;
  for (const article of log.querySelectorAll<HTMLElement>("article")) {
    const read = turnOf(article);
    const box = article.getBoundingClientRect();
    if (read === null || box.bottom <= top || box.top >= bottom) {
      continue;
    }
    if (read.past === null && read.turn === sought) {
      return read;
    }
    if (found === null || box.top <= eyes) {
      found = read;
    }
  }
  return found;
}

function turnOf({ id, dataset }: HTMLElement): TurnRead | null {
  const turn = dataset.session === undefined ? placeOf(`#${id}`)?.turn : Number(dataset.turn);
  return turn === undefined ? null : { past: dataset.session ?? null, turn };
}
