// Goes to the turn that the address names or somebody asks for (`jump.ts`), and reads it first if it has to.
//
// Invariant: the reader is taken there once. Where the turn is not read yet its row is gone to at once, and again when
// it has come and while the rows around it get their true heights, unless the reader has moved meanwhile.
import type { Virtualizer } from "@tanstack/react-virtual";
import type { RefObject } from "react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { useApp } from "../../app/AppContext";
import type { Followed } from "../../state/followed";
import { turnAt, turnCount } from "../../state/followed";
import type { Place } from "../../ui/place";
import { onSeek, placeOf } from "../../ui/place";
import type { SessionId } from "../../wire/names";

/** How long a turn that was asked for stands out. */
const LIT_MS = 1_800;
/** What the reader does to move. */
const MOVES = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

interface SeekingProps {
  session: SessionId;
  followed: Followed;
  scroller: RefObject<HTMLDivElement | null>;
  virtualizer: Virtualizer<HTMLDivElement, Element>;
  /** The row of a turn of the session. */
  indexOf(turn: number): number;
}

interface Seeking {
  /** The place that was asked for last. */
  sought: Place | null;
  /** The turn that stands out for having been asked for just now. */
  lit: number | null;
}

export function useSeeking({ session, followed, scroller, virtualizer, indexOf }: SeekingProps): Seeking {
  const app = useApp();
  const total = turnCount(followed);
  const known = (place: Place | null) => (place !== null && place.turn >= 1 && place.turn <= total ? place : null);
  const [asked, setAsked] = useState(() => ({ session, place: known(placeOf(location.hash)) }));
  // What was asked for in the session before is not meant for this one.
  const sought = asked.session === session ? asked.place : null;
  const [found, setFound] = useState<Place | null>(null);
  // The place that the reader is still on the way to.
  const bound = useRef<Place | null>(sought);
  const read = sought !== null && turnAt(followed, sought.turn) !== null;

  useEffect(
    () =>
      onSeek((place) => {
        if (place.turn >= 1 && place.turn <= total) {
          bound.current = place;
          setAsked({ session, place });
        }
      }),
    [session, total],
  );
  // The page may go on to another session, at a place of it.
  const opened = useRef(session);
  useEffect(() => {
    if (opened.current !== session) {
      opened.current = session;
      const place = known(placeOf(location.hash));
      bound.current = place;
      setAsked({ session, place });
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [session]);
  useEffect(() => {
    const element = scroller.current;
    const leave = () => {
      bound.current = null;
    };
    for (const move of MOVES) {
      element?.addEventListener(move, leave, { passive: true });
    }
    return () => {
      for (const move of MOVES) {
        element?.removeEventListener(move, leave);
      }
    };
  }, [scroller]);

  useLayoutEffect(() => {
    if (sought === null || bound.current !== sought) {
      return undefined;
    }
    const goThere = () => virtualizer.scrollToIndex(indexOf(sought.turn), { align: "start" });
    goThere();
    if (!read) {
      app.readTurns(session, sought.turn, sought.turn);
      return undefined;
    }
    const keepGoing = () => {
      if (bound.current !== sought) {
        return false;
      }
      goThere();
      return true;
    };
    let showing: (() => void) | null = null;
    const keeping = keepUntilStill(scroller.current, keepGoing, () => {
      bound.current = null;
      showing = showCall(scroller.current, sought);
    });
    return () => {
      keeping();
      showing?.();
    };
    // Rows that come above do not take the reader anywhere anew.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [sought, read, app, session, scroller, virtualizer]);
  useLayoutEffect(() => {
    if (sought === null) {
      virtualizer.scrollToEnd();
    }
    // Only on opening: later the reader decides.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  useEffect(() => {
    if (sought === null || !read) {
      return;
    }
    const seen = setTimeout(() => setFound(sought), LIT_MS);
    return () => clearTimeout(seen);
  }, [sought, read]);

  return { sought, lit: sought !== null && read && found !== sought ? sought.turn : null };
}

/** So many frames in a row in which nothing moved: the rows in view have been measured. */
const STILL_FRAMES = 4;
/** So many frames are waited for that; more would hold a reader whose page never rests. */
const MOST_FRAMES = 120;

/**
 * Goes to a place in each frame until the page lies still there, or `go` says that it is not to be gone to any more. A few
 * tall rows are believed to fit the view: then the place is the end as well, and when they are measured the end is kept.
 */
function keepUntilStill(scroller: HTMLElement | null, go: () => boolean, done: () => void): () => void {
  let [still, frames, before] = [0, 0, ""];
  let frame = 0;
  const look = () => {
    if (!go()) {
      return;
    }
    const now = `${scroller?.scrollTop} ${scroller?.scrollHeight}`;
    still = now === before ? still + 1 : 0;
    before = now;
    frames += 1;
    if (still >= STILL_FRAMES || frames >= MOST_FRAMES) {
      done();
    } else {
      frame = requestAnimationFrame(look);
    }
  };
  frame = requestAnimationFrame(look);
  return () => cancelAnimationFrame(frame);
}

/** How often the call is looked for: its turn is drawn and measured first. */
const LOOKS = 20;

/** Brings a call of a turn, or something that was shown in it, into view once it is drawn, and gives it the focus. */
function showCall(scroller: HTMLElement | null, { turn, tool, shown }: Place): () => void {
  let left = tool === null && shown === undefined ? 0 : LOOKS;
  let frame = 0;
  const look = () => {
    const call = scroller?.querySelector<HTMLElement>(`#t${turn} ${shown === undefined ? `[data-tool="${tool}"]` : `[data-output="${shown.id}"]`}`);
    if (call) {
      call.scrollIntoView({ block: "center" });
      call.focus({ preventScroll: true });
    } else if ((left -= 1) > 0) {
      frame = requestAnimationFrame(look);
    }
  };
  if (left > 0) {
    frame = requestAnimationFrame(look);
  }
  return () => cancelAnimationFrame(frame);
}
