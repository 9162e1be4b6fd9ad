// The transcript: a window onto the session's turns, and the prompts that wait below them.
//
// Invariant: nothing moves that the reader did not move. The end is followed only by a reader who is at the end.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Http } from "../api/http";
import type { Followed } from "../state/followed";
import { openRequests, runningTurn, withPreviews } from "../state/followed";
import { brokenOff } from "../state/words";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import type { Place } from "../ui/place";
import { onSeek, placeOf, SoughtContext } from "../ui/place";
import { inOneLine } from "../ui/shown";
import { useNow } from "../ui/time";
import type { SessionId } from "../wire/names";
import type { Actions } from "./items/actions";
import { HandedOver } from "./HandedOver";
import { QueuedPromptRow } from "./QueuedPromptRow";
import { TurnRow } from "./TurnRow";

/** Nearer to the end than this is at the end. */
const END_PX = 48;
const GUESSED_ROW_PX = 160;

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
  const ending = useRef(true);
  const now = useNow();
  const { turns } = followed.transcript;
  const actions = useMemo<Actions>(
    () => ({
      answer: (request, answer) => http.answerPermission(session, `p${request}`, answer),
      stop: () => http.cancel(session),
      remembered: http.remembered,
      forget: http.forgetPermission,
    }),
    [http, session],
  );
  const { queue } = followed;
  const count = turns.length + queue.length;
  // A prompt keeps its id when it becomes a turn, so its row keeps its place. The ids of turns never change, so only
  // their number matters here: a new function would have the virtualizer measure every row again, at every word.
  const keyOf = useCallback(
    (index: number) => turns[index]?.interactionId ?? queue[index - turns.length]?.interactionId ?? index,
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [turns.length, queue],
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

  const [sought, setSought] = useState<Place | null>(() => placeOf(location.hash));
  useEffect(() => onSeek(setSought), []);
  useLayoutEffect(() => {
    const index = sought === null ? -1 : turns.findIndex(({ turn }) => turn === sought.turn);
    if (sought !== null && index >= 0) {
      virtualizer.scrollToIndex(index, { align: "start" });
      return showCall(scroller.current, sought);
    }
    return undefined;
    // Where the turns stand matters only when a place is asked for: later the reader decides.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [sought]);
  useLayoutEffect(() => {
    if (sought === null || !turns.some(({ turn }) => turn === sought.turn)) {
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
              {virtualizer.getVirtualItems().map(({ key, index, start }) => (
                <div
                  key={key}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  className="absolute top-0 left-0 w-full"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <Row http={http} session={session} followed={followed} actions={actions} index={index} now={now} />
                </div>
              ))}
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
    </SoughtContext>
  );
}

/** How often the call is looked for: its turn is drawn and measured first. */
const LOOKS = 20;

/** Brings a call of a turn into view once it is drawn, and gives it the focus. */
function showCall(scroller: HTMLElement | null, { turn, tool }: Place): () => void {
  let left = tool === null ? 0 : LOOKS;
  let frame = 0;
  const look = () => {
    const call = scroller?.querySelector<HTMLElement>(`#t${turn} [data-tool="${tool}"]`);
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
  now: number;
}

/** The turns come first, then the prompts that wait. */
function Row({ http, session, followed, actions, index, now }: RowProps) {
  const { transcript, previews, queue } = followed;
  const turn = transcript.turns[index];
  if (turn !== undefined) {
    const last = index === transcript.turns.length - 1;
    const shown = followed.reading.kind === "damaged" ? brokenOff(turn) : withPreviews(turn, previews);
    const handOvers = transcript.handOvers.filter(({ after }) => after === turn.turn);
    const end = last && queue.length === 0;
    return (
      <>
        <TurnRow
          turn={last ? shown : turn}
          first={index === 0}
          newest={turn.source === null && transcript.turns.findLastIndex(({ source }) => source === null) === index}
          last={end && handOvers.length === 0}
          retied={transcript.turns[index - 1]?.outcome === "interrupted"}
          stalled={last && followed.agent.state === "unresponsive"}
          answeredAt={followed.answeredAt}
          actions={actions}
          now={now}
        />
        {handOvers.length > 0 && <HandedOver handOvers={handOvers} last={end} broken={turn.outcome === "interrupted"} />}
      </>
    );
  }
  const prompt = queue[index - transcript.turns.length];
  return prompt === undefined ? null : <QueuedPromptRow http={http} session={session} prompt={prompt} />;
}
