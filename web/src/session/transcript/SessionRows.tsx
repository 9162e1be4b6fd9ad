// The rows of one session in the transcript, as far as they are in sight: its head, its turns, the prompts that wait.
//
// Invariant: only the open session's turns have ids for `#t42`, take answers and can be sent again. What is above it is
// for reading.
import type { VirtualItem } from "@tanstack/react-virtual";
import type { ReactNode } from "react";
import { useCallback, useMemo } from "react";

import { useApp, useAppState } from "../../app/AppContext";
import { useFrame } from "../../app/FrameContext";
import type { ChainLayout, ChainRow, Link } from "../../state/chain";
import { askedAtEnd } from "../../state/chain";
import type { Followed } from "../../state/followed";
import { asidesAfter, forksAfter, handOversAfter, turnAt, turnCount, withPreviews } from "../../state/followed";
import type { Aside, TranscriptTurn } from "../../state/transcript";
import { brokenOff, isOwn, titleOf } from "../../state/words";
import { Boundary } from "../../ui/Boundary";
import type { Place } from "../../ui/place";
import { SoughtContext } from "../../ui/place";
import { DirectoryContext } from "../../ui/paths";
import type { SessionId } from "../../wire/names";
import { NextStepsContext, useNextSteps } from "../blocks/useNextSteps";
import { useOtherSession } from "../blocks/useOtherSession";
import { AskedBetween } from "./AskedBetween";
import { ComposeContext } from "../composer/ComposeContext";
import { ForkContext } from "../forking/ForkContext";
import { ForkedInto } from "../forking/ForkedInto";
import { HandedOver } from "./HandedOver";
import type { Actions } from "../items/actions";
import { PlainText, plainTextOf } from "../items/ItemBoundary";
import { useLiveWords } from "./liveWords";
import { QueuedPromptRow } from "./QueuedPromptRow";
import type { Before } from "./SessionHead";
import { SessionHead } from "./SessionHead";
import { TurnRow } from "./TurnRow";
import { UnreadRow } from "./UnreadRow";
import { useTurnsInReach } from "./useTurnsInReach";

interface SessionRowsProps {
  link: Link;
  /** Its place in the chain. */
  at: number;
  layout: ChainLayout;
  /** It is the one that the page is open at. */
  open: boolean;
  /** Those of all sessions that are drawn. */
  items: readonly VirtualItem[];
  range: { startIndex: number; endIndex: number } | null;
  measure(element: Element | null): void;
  sought: Place | null;
  lit: number | null;
  before: Before;
  now: number;
}

export function SessionRows({ link, at, layout, open, items, range, measure, sought, lit, before, now }: SessionRowsProps) {
  const { goOn } = useFrame();
  const app = useApp();
  const { session, followed } = link;
  const actions = useMemo<Actions>(
    () => ({
      answer: (request, answer) => app.http.answerPermission(session, `p${request}`, answer),
      stop: () => app.http.cancel(session),
      readLarge: (seq) => app.readLarge(session, seq),
    }),
    [app, session],
  );
  const nextSteps = useNextSteps({
    session,
    agent: followed.transcript.agent ?? app.store.getState().list.rows.get(session)?.agent ?? "",
    options: followed.agent.options,
    commands: followed.agent.commands,
    changed: followed.nextSeq,
    onWent: useCallback((to: SessionId) => goOn(session, to), [goOn, session]),
  });
  const steps = useMemo(() => (open ? nextSteps : { ...nextSteps, past: session }), [nextSteps, open, session]);
  const directory = useAppState((state) => state.list.rows.get(session))?.cwd ?? "";
  useTurnsInReach(session, followed, turnsInView(layout, at, range));

  const rows: ReactNode[] = items.flatMap(({ key, index, start, size }) => {
    const row = layout.rowAt(index);
    if (row === null || row.link !== at) {
      return [];
    }
    const read = row.kind !== "turn" || turnAt(followed, row.turn) !== null;
    return [
      <div
        key={key}
        ref={read ? measure : undefined}
        data-index={index}
        className="absolute top-0 left-0 w-full"
        style={{ transform: `translateY(${start}px)`, height: read ? undefined : size }}
      >
        <RowBoundary of={row.kind === "turn" ? turnAt(followed, row.turn) : followed} turn={row.kind === "turn" ? turnAt(followed, row.turn) : null}>
          <Row link={link} row={row} read={read} first={index === 0} open={open} lit={open && row.kind === "turn" && lit === row.turn} before={before} actions={actions} now={now} />
        </RowBoundary>
      </div>,
    ];
  });
  const shown = (
    <DirectoryContext value={directory}>
      <NextStepsContext value={steps}>{rows}</NextStepsContext>
    </DirectoryContext>
  );
  return open ? (
    <SoughtContext value={sought}>{shown}</SoughtContext>
  ) : (
    <ComposeContext value={null}>
      <ForkContext value={null}>
        <SoughtContext value={null}>{shown}</SoughtContext>
      </ForkContext>
    </ComposeContext>
  );
}

/** A row that cannot be drawn says so, with what it can say of its turn; the others stand as they are. */
function RowBoundary({ of, turn, children }: { of: unknown; turn: TranscriptTurn | null; children: ReactNode }) {
  return (
    <Boundary
      of={of}
      instead={(retry) => (
        <article aria-label={turn === null ? undefined : `Turn ${turn.turn}`} className="thread-row pb-9">
          <span aria-hidden="true" className="thread-line" />
          <PlainText text={turn === null ? "" : [turn.prompt, ...turn.items.map(plainTextOf)].join("\n\n")} onRetry={retry} />
        </article>
      )}
    >
      {children}
    </Boundary>
  );
}

/** As places among the turns of the link, from 0; they may lie outside of it. */
function turnsInView(layout: ChainLayout, at: number, range: SessionRowsProps["range"]): SessionRowsProps["range"] {
  if (range === null) {
    return null;
  }
  const first = layout.indexOf(at, 1);
  const end = layout.starts[at + 1] ?? layout.count;
  return range.endIndex < first || range.startIndex >= end ? null : { startIndex: range.startIndex - first, endIndex: range.endIndex - first };
}

interface RowProps {
  link: Link;
  row: ChainRow;
  /** Its turn has been read, if it is one. */
  read: boolean;
  /** Nothing is above it. */
  first: boolean;
  open: boolean;
  /** It was just asked for. */
  lit: boolean;
  before: Before;
  actions: Actions;
  now: number;
}

function Row({ link, row, read, first, open, lit, before, actions, now }: RowProps) {
  const { session, followed } = link;
  switch (row.kind) {
    case "head":
      return <Head link={link} past={!open} first={first} before={before} />;
    case "turn": {
      const turn = turnAt(followed, row.turn);
      return read && turn !== null ? (
        <Turn link={link} turn={turn} first={first} open={open} lit={lit} actions={actions} now={now} />
      ) : (
        <UnreadRow session={session} followed={followed} turn={row.turn} first={first} past={!open} />
      );
    }
    case "queued": {
      const prompt = followed.queue[row.nth];
      return prompt === undefined ? null : <QueuedPromptRow session={session} prompt={prompt} signedOut={followed.agent.state === "signed_out"} />;
    }
    case "asked":
      return <Asked followed={followed} asides={askedAtEnd(followed, open)} first={first} last={open} open={open} actions={actions} now={now} />;
  }
}

interface AskedProps {
  followed: Followed;
  asides: readonly Aside[];
  first: boolean;
  last: boolean;
  open: boolean;
  actions: Actions;
  now: number;
}

function Asked({ followed, asides, open, ...rest }: AskedProps) {
  return asides.length === 0 ? null : (
    <AskedBetween asides={asides} open={open && followed.reading.kind !== "fenced"} answeredAt={followed.answeredAt} {...rest} />
  );
}

function Head({ link, past, first, before }: { link: Link; past: boolean; first: boolean; before: Before }) {
  const { session, followed } = link;
  const row = useAppState((state) => state.list.rows.get(session));
  const work = useAppState((state) => (followed.work === null ? null : (state.works.get(followed.work.id)?.name ?? followed.work.name)));
  const step = useAppState((state) => (row?.from && "block" in row.from ? stepLabel(state.followed.get(row.from.session), row.from.block) : null));
  return <SessionHead session={session} title={row === undefined ? "Session" : titleOf(row)} work={work} step={step} forkedFrom={followed.forkedFrom} past={past} first={first} before={before} />;
}

/** What a step, as `t42.n1`, is called; null while its turn is not read. */
function stepLabel(followed: Followed | undefined, block: string): string | null {
  const [, turn, nth] = /^t(\d+)\.n(\d+)$/.exec(block) ?? [];
  const offered = followed === undefined ? null : turnAt(followed, Number(turn));
  const found = offered?.blocks.find((each) => "next" in each.shown && each.nth === Number(nth));
  return found !== undefined && "next" in found.shown ? found.shown.next.label : null;
}

interface TurnProps extends Omit<RowProps, "row" | "read" | "before"> {
  turn: TranscriptTurn;
}

function Turn({ link, turn, first, open, lit, actions, now }: TurnProps) {
  const { session, followed } = link;
  const { transcript, queue } = followed;
  const from = useAppState((state) => (turn.turn === 1 ? (state.list.rows.get(session)?.from?.session ?? null) : null));
  const { gone } = useOtherSession(from);
  const last = turn === transcript.turns.at(-1) && turn.turn === turnCount(followed);
  const previews = useLiveWords(session, last);
  const why = followed.reading.kind === "fenced" ? followed.reading.why : null;
  // The same object for as long as nothing of it changes: a row that only moves is not drawn again.
  const shown = useMemo(() => (why === null ? withPreviews(turn, previews) : brokenOff(turn, why)), [turn, previews, why]);
  const handOvers = handOversAfter(followed, turn.turn);
  const forks = forksAfter(followed, turn.turn);
  const end = open && last && queue.length === 0 && askedAtEnd(followed, open).length === 0;
  const before = turn.turn === 1 ? asidesAfter(followed, 0) : [];
  const asked = { followed, last: false, open, actions, now };
  return (
    <>
      <Asked asides={before} first={first} {...asked} />
      <TurnRow
        turn={last ? shown : turn}
        session={session}
        past={open ? null : session}
        from={from}
        fromGone={gone}
        first={first && before.length === 0}
        newest={open && transcript.turns.findLast(isOwn) === turn}
        last={end && handOvers.length + forks.length === 0}
        retied={turnAt(followed, turn.turn - 1)?.outcome === "interrupted" || followed.contents.lines[turn.turn - 2]?.state === "interrupted"}
        stalled={open && last && followed.agent.state === "unresponsive"}
        lit={lit}
        answeredAt={followed.answeredAt}
        actions={actions}
        now={now}
      />
      <Asked asides={asidesAfter(followed, turn.turn)} first={false} {...asked} />
      {handOvers.length > 0 && <HandedOver handOvers={handOvers} last={end && forks.length === 0} broken={turn.outcome === "interrupted"} />}
      {forks.length > 0 && <ForkedInto forks={forks} last={end} broken={turn.outcome === "interrupted"} />}
    </>
  );
}
