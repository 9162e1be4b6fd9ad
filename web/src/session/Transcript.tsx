// The transcript: a window onto the session's turns, and the prompts that wait below them.
//
// Invariant: nothing moves that the reader did not move. The end is followed only by a reader who is at the end.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Http } from "../api/http";
import type { Followed } from "../state/followed";
import { withPreviews } from "../state/followed";
import type { TranscriptTurn } from "../state/transcript";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { useNow } from "../ui/time";
import type { QueuedPrompt, SessionId } from "../wire/names";
import { QueuedPromptRow } from "./QueuedPromptRow";
import { TurnRow } from "./TurnRow";

/** Nearer to the end than this is at the end. */
const END_PX = 48;
const GUESSED_ROW_PX = 160;

type Item = { kind: "turn"; turn: TranscriptTurn; retied: boolean } | { kind: "queued"; prompt: QueuedPrompt };

interface TranscriptProps {
  http: Http;
  session: SessionId;
  followed: Followed;
  /** Grows with every prompt that this reader sends: its answer is what they want to see. */
  sent: number;
}

export function Transcript({ http, session, followed, sent }: TranscriptProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const now = useNow();
  const items = useMemo(() => itemsOf(followed), [followed]);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESSED_ROW_PX,
    getItemKey: (index) => keyOf(items[index]),
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_PX,
    overscan: 4,
    paddingStart: 28,
  });

  useLayoutEffect(() => {
    const turn = /^#t(\d+)$/.exec(location.hash)?.[1];
    const index = turn === undefined ? -1 : items.findIndex((item) => item.kind === "turn" && item.turn.turn === Number(turn));
    if (index >= 0) {
      virtualizer.scrollToIndex(index, { align: "start" });
    } else {
      virtualizer.scrollToEnd();
    }
    // Only on opening: later the reader decides.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  useLayoutEffect(() => {
    if (sent > 0) {
      virtualizer.scrollToEnd();
    }
  }, [sent, virtualizer]);

  const lookWhereWeAre = () => {
    setAtEnd(virtualizer.isAtEnd(END_PX));
  };
  useLayoutEffect(lookWhereWeAre);

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        ref={scroller}
        role="log"
        aria-label="Transcript"
        aria-live="off"
        tabIndex={0}
        onScroll={lookWhereWeAre}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain -outline-offset-2 [overflow-anchor:none]"
      >
        <div className="safe-x flex min-h-full flex-col md:px-8">
          <div className="reading relative shrink-0" style={{ height: virtualizer.getTotalSize() }}>
            {virtualizer.getVirtualItems().map(({ key, index, start }) => (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className="absolute top-0 left-0 w-full"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row http={http} session={session} item={items[index]} first={index === 0} last={index === items.length - 1} now={now} />
              </div>
            ))}
          </div>
          <div aria-hidden="true" className="reading relative flex-1">
            <span className="thread-line thread-line-ahead" />
          </div>
        </div>
      </div>
      {!atEnd && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button
            className="pointer-events-auto rounded-full! pl-3! shadow-sheet"
            onClick={() => {
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

interface RowProps {
  http: Http;
  session: SessionId;
  item: Item | undefined;
  first: boolean;
  last: boolean;
  now: number;
}

function Row({ http, session, item, first, last, now }: RowProps) {
  switch (item?.kind) {
    case "turn":
      return <TurnRow turn={item.turn} first={first} last={last} retied={item.retied} now={now} />;
    case "queued":
      return <QueuedPromptRow http={http} session={session} prompt={item.prompt} />;
    case undefined:
      return null;
  }
}

function itemsOf({ transcript, previews, queue }: Followed): Item[] {
  const turns = transcript.turns.map((turn, index): Item => {
    const retied = transcript.turns[index - 1]?.outcome === "interrupted";
    return { kind: "turn", turn: withPreviews(turn, previews), retied };
  });
  return [...turns, ...queue.map((prompt): Item => ({ kind: "queued", prompt }))];
}

/** A prompt keeps its id when it becomes a turn, so its row keeps its place. */
function keyOf(item: Item | undefined): string {
  switch (item?.kind) {
    case "turn":
      return item.turn.interactionId;
    case "queued":
      return item.prompt.interactionId;
    case undefined:
      return "";
  }
}
