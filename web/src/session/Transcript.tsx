// The transcript: a window onto the session's turns, and the prompts that wait below them.
//
// Invariant: nothing moves that the reader did not move. The end is followed only by a reader who is at the end. Every
// turn has its row; one that is not read stands there at the height that is believed of it, and when it comes, what is
// in view stays where it is.
import type { VirtualItem, Virtualizer } from "@tanstack/react-virtual";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Http } from "../api/http";
import type { App } from "../state/app";
import type { Followed } from "../state/followed";
import { firstFollowed, handOversAfter, openRequests, runningTurn, turnAt, turnCount, withPreviews } from "../state/followed";
import { brokenOff } from "../state/words";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { navigate } from "../ui/navigation";
import { SoughtContext } from "../ui/place";
import { inOneLine } from "../ui/shown";
import { useNow } from "../ui/time";
import type { SessionId } from "../wire/names";
import { NextStepsContext, useNextSteps } from "./blocks/useNextSteps";
import type { Actions } from "./items/actions";
import { HandedOver } from "./HandedOver";
import { QueuedPromptRow } from "./QueuedPromptRow";
import { TurnRow } from "./TurnRow";
import { UnreadRow } from "./UnreadRow";
import { useSeeking } from "./useSeeking";
import { useTurnsInReach } from "./useTurnsInReach";

/** Nearer to the end than this is at the end. */
const END_PX = 48;
const GUESSED_ROW_PX = 160;

interface TranscriptProps {
  app: App;
  session: SessionId;
  followed: Followed;
  /** Grows with every prompt that this reader sends: its answer is what they want to see. */
  sent: number;
  /** A next step was taken and goes on in that session. */
  onWent?(session: SessionId): void;
}

function goTo(session: SessionId): void {
  navigate(`/s/${session}`);
}

export function Transcript({ app, session, followed, sent, onWent = goTo }: TranscriptProps) {
  const { http } = app;
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const ending = useRef(true);
  const now = useNow();
  const actions = useMemo<Actions>(
    () => ({
      answer: (request, answer) => http.answerPermission(session, `p${request}`, answer),
      stop: () => http.cancel(session),
      remembered: http.remembered,
      forget: http.forgetPermission,
    }),
    [http, session],
  );
  const nextSteps = useNextSteps({
    app,
    session,
    agent: followed.transcript.agent ?? app.store.getState().list.rows.get(session)?.agent ?? "",
    options: followed.agent.options,
    changed: followed.nextSeq,
    onWent,
  });
  const { queue } = followed;
  const { turns } = followed.transcript;
  const total = turnCount(followed);
  const first = firstFollowed(followed);
  const count = total + queue.length;
  // A prompt keeps its id when it becomes a turn, so its row keeps its place. The ids of turns never change, so only
  // their number matters here: a new function would have the virtualizer measure every row again, at every word.
  const keyOf = useCallback(
    (index: number) => (index < first - 1 ? index : (turns[index + 1 - first]?.interactionId ?? queue[index - total]?.interactionId ?? index)),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [first, total, queue],
  );
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESSED_ROW_PX,
    getItemKey: keyOf,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_PX,
    overscan: 4,
    paddingStart: 28,
  });

  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = pushesUp;
  useTurnsInReach(app, session, followed, virtualizer.range);
  const { sought, lit } = useSeeking({ app, session, followed, scroller, virtualizer });

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

  return (
    <SoughtContext value={sought}>
      <NextStepsContext value={nextSteps}>
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
                {virtualizer.getVirtualItems().map(({ key, index, start, size }) => {
                  const read = index >= total || turnAt(followed, index + 1) !== null;
                  return (
                    <div
                      key={key}
                      ref={read ? virtualizer.measureElement : undefined}
                      data-index={index}
                      className="absolute top-0 left-0 w-full"
                      style={{ transform: `translateY(${start}px)`, height: read ? undefined : size }}
                    >
                      {read ? (
                        <Row http={http} session={session} followed={followed} actions={actions} index={index} lit={lit === index + 1} now={now} />
                      ) : (
                        <UnreadRow app={app} session={session} followed={followed} turn={index + 1} />
                      )}
                    </div>
                  );
                })}
              </div>
              <div aria-hidden="true" className="reading relative flex-1">
                <span className="thread-line thread-line-ahead" />
              </div>
            </div>
          </div>
          <Asking followed={followed} />
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
      </NextStepsContext>
    </SoughtContext>
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
  const running = runningTurn(followed.transcript);
  const asked = running === null ? undefined : openRequests(running).at(-1);
  return (
    <p role="status" className="sr-only">
      {asked === undefined ? "" : `The agent needs you: ${inOneLine(asked.title)}`}
    </p>
  );
}

interface RowProps {
  http: Http;
  session: SessionId;
  followed: Followed;
  actions: Actions;
  index: number;
  /** It was just asked for. */
  lit: boolean;
  now: number;
}

/** The turns come first, then the prompts that wait. */
function Row({ http, session, followed, actions, index, lit, now }: RowProps) {
  const { transcript, previews, queue } = followed;
  const turn = turnAt(followed, index + 1);
  if (turn !== null) {
    const last = turn === transcript.turns.at(-1);
    const shown = followed.reading.kind === "damaged" ? brokenOff(turn) : withPreviews(turn, previews);
    const handOvers = handOversAfter(followed, turn.turn);
    const end = last && queue.length === 0;
    return (
      <>
        <TurnRow
          turn={last ? shown : turn}
          first={index === 0}
          newest={turn.source === null && transcript.turns.findLast(({ source }) => source === null) === turn}
          last={end && handOvers.length === 0}
          retied={turnAt(followed, index)?.outcome === "interrupted" || followed.contents.lines[index - 1]?.state === "interrupted"}
          stalled={last && followed.agent.state === "unresponsive"}
          lit={lit}
          answeredAt={followed.answeredAt}
          actions={actions}
          now={now}
        />
        {handOvers.length > 0 && <HandedOver handOvers={handOvers} last={end} broken={turn.outcome === "interrupted"} />}
      </>
    );
  }
  const prompt = queue[index - turnCount(followed)];
  return prompt === undefined ? null : <QueuedPromptRow http={http} session={session} prompt={prompt} />;
}
