// The transcript: a window onto the turns of the open session and of those above it, and the prompts that wait below.
//
// Invariant: nothing moves that the reader did not move. The end is followed only by a reader who is at the end. Every
// turn has its row; one that is not read stands there at the height that is believed of it, and when it comes, what is
// in view stays where it is. So it does when an earlier session is put above.
import type { VirtualItem, Virtualizer } from "@tanstack/react-virtual";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import { layoutOf, shapeOf } from "../../state/chain";
import type { Followed } from "../../state/followed";
import { newestOpen, turnCount } from "../../state/followed";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { jumpToTurn, leavePlace } from "../../ui/place";
import { inOneLine } from "../../ui/shown";
import { useNow } from "../../ui/time";
import type { TurnRead } from "../contents/useTurnInView";
import { SessionRows } from "./SessionRows";
import type { OpenChain } from "./useChain";
import { useReachingUp } from "./useReachingUp";
import { useSeeking } from "./useSeeking";

/** Nearer to the end than this is at the end. */
const END_PX = 48;
const GUESSED_ROW_PX = 160;

interface TranscriptProps {
  chain: OpenChain;
  /** Grows with every prompt that this reader sends: its answer is what they want to see. */
  sent: number;
  /** The turn that the reader is at. */
  read: TurnRead | null;
}

export function Transcript({ chain, sent, read }: TranscriptProps) {
  const { open, above, before } = chain;
  const { session, followed } = open;
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const ending = useRef(true);
  const now = useNow();
  const links = [...above, open];
  const shape = shapeOf(links);
  // The ids of turns never change, so only the shape matters here: a new function for the keys would have the
  // virtualizer measure every row again, at every word.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const layout = useMemo(() => layoutOf(links), [shape]);
  const { count } = layout;
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESSED_ROW_PX,
    getItemKey: layout.keyOf,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_PX,
    overscan: 4,
    paddingStart: 28,
  });

  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = pushesUp;
  const { sought, lit } = useSeeking({ session, followed, scroller, virtualizer, indexOf: (turn) => layout.indexOf(above.length, turn) });
  useReachingUp(scroller, before.kind === "more" ? before.show : null);

  useLayoutEffect(() => {
    if (sent > 0) {
      virtualizer.scrollToEnd();
    }
  }, [sent, virtualizer]);

  const lookWhereWeAre = () => {
    // As it is laid out: the virtualizer may not have heard of it yet.
    const element = scroller.current;
    ending.current = element === null || element.scrollHeight - element.scrollTop - element.clientHeight <= END_PX;
    setAtEnd(ending.current);
  };
  const totalPx = virtualizer.getTotalSize();
  // Looking makes the browser lay the page out, so it is done only when something grew or came.
   
  useLayoutEffect(lookWhereWeAre, [totalPx, count]);

  // What stands below may grow: a reader who is at the end stays there.
  useEffect(() => {
    const element = scroller.current;
    if (element === null) {
      return;
    }
    const observer = new ResizeObserver(() => {
      if (ending.current) {
        virtualizer.scrollToEnd();
      }
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [virtualizer]);

  const items = virtualizer.getVirtualItems();
  return (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <div
            ref={scroller}
            role="log"
            aria-label="Transcript"
            aria-live="off"
            tabIndex={0}
            onScroll={lookWhereWeAre}
            className="scrolls min-h-0 flex-1 overscroll-contain -outline-offset-2 [overflow-anchor:none]"
          >
            <div className="safe-x flex min-h-full flex-col md:px-8">
              <div className="reading relative shrink-0" style={{ height: totalPx }}>
                {links.map((link, at) => (
                  <SessionRows
                    key={link.session}
                    link={link}
                    at={at}
                    layout={layout}
                    open={link.session === session}
                    items={items}
                    range={virtualizer.range}
                    measure={virtualizer.measureElement}
                    sought={sought}
                    lit={lit}
                    before={before}
                    now={now}
                  />
                ))}
              </div>
              <div aria-hidden="true" className="reading relative flex-1">
                <span className="thread-line thread-line-ahead" />
              </div>
            </div>
          </div>
          <Asking followed={followed} />
          {!atEnd && (
            <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center gap-2">
              <TurnSteps read={read} turns={turnCount(followed)} />
              <Button
                className="pointer-events-auto rounded-full! pl-3! shadow-sheet"
                onClick={() => {
                  leavePlace();
                  virtualizer.scrollToEnd();
                  scroller.current?.focus({ preventScroll: true });
                }}
              >
                <Icon name="down" />
                Latest
              </Button>
            </div>
          )}
        </div>
  );
}

/** One turn back and one on, for those who have no keys at hand. */
function TurnSteps({ read, turns }: { read: TurnRead | null; turns: number }) {
  const at = read === null || read.past !== null ? 0 : read.turn;
  if (at <= 1 && at >= turns) {
    return null;
  }
  return (
    <div className="pointer-events-auto flex overflow-hidden rounded-full border border-rule bg-paper shadow-sheet">
      <IconButton label="Previous turn" className="rounded-none!" disabled={at <= 1} onClick={() => jumpToTurn(at - 1)}>
        <Icon name="up" />
      </IconButton>
      <IconButton label="Next turn" className="rounded-none!" disabled={at >= turns} onClick={() => jumpToTurn(at + 1)}>
        <Icon name="down" />
      </IconButton>
    </div>
  );
}

/**
 * Whether a row that changes its size pushes up instead of down. A row that is not read has no size of its own, so the
 * first that is measured of it is its body: it gives way to what the reader has in view already, and else to what
 * follows the place where they are. Later only what is wholly above the reader may move.
 */
function pushesUp({ index, key }: VirtualItem, _: number, virtualizer: Virtualizer<HTMLDivElement, Element>): boolean {
  // Rows that come together are measured one after the other; asking for the whole puts those after them in place.
  virtualizer.getTotalSize();
  const { itemSizeCache, measurementsCache, range, scrollOffset } = virtualizer;
  const row = measurementsCache[index];
  if (row === undefined || scrollOffset === null) {
    return false;
  }
  if (itemSizeCache.has(key)) {
    return row.end <= scrollOffset;
  }
  for (let below = range?.endIndex ?? index; below > index; below -= 1) {
    const other = measurementsCache[below];
    if (other !== undefined && itemSizeCache.has(other.key)) {
      return true;
    }
  }
  // A reader who was taken to the row's start is on it, whatever the browser rounds that to.
  return row.start + 1 <= scrollOffset;
}

/** Said once to those who listen: the transcript itself is too busy to be read out as it grows. */
function Asking({ followed }: { followed: Followed }) {
  const asked = newestOpen(followed);
  return (
    <p role="status" className="sr-only">
      {asked === null ? "" : `The agent needs you: ${inOneLine(asked.title)}`}
    </p>
  );
}
