// The contents beside the transcript, and as a sheet where there is no room beside it.
import { useCallback, useEffect, useRef, useState } from "react";

import { useApp } from "../../app/AppContext";
import type { Followed } from "../../state/followed";
import { cursorOf } from "../../state/contents";
import { Dialog } from "../../ui/Dialog";
import { jumpToTurn } from "../../ui/place";
import type { SessionRow } from "../../wire/names";
import { ContentsList } from "./ContentsList";
import type { TurnRead } from "./useTurnInView";
import { WholeWork } from "./WholeWork";

interface ContentsProps {
  row: SessionRow;
  followed: Followed;
  /** The turn that is read, of whichever session. */
  read: TurnRead | null;
  /** Its log can not be read to the end: only what was read of it is shown. */
  fenced: boolean;
}

const BESIDE_LINE_PX = 34;
const SHEET_LINE_PX = 46;
/** Without an answer a page is asked for again. */
const AGAIN_AFTER_MS = 4_000;

export function ContentsBeside({ id, ...rest }: ContentsProps & { id: string }) {
  const turns = turnsOf(rest);
  return (
    <aside id={id} aria-labelledby={`${id}-title`} className="safe-top flex w-72 shrink-0 flex-col border-r border-rule">
      <header className="flex items-baseline justify-between gap-2 px-4 pt-4 pb-2">
        <h2 id={`${id}-title`} className="text-[0.9375rem] font-semibold">
          Contents
        </h2>
        <p className="text-xs text-soft tabular-nums">{turns === 1 ? "1 turn" : `${turns} turns`}</p>
      </header>
      <Extent {...rest} linePx={BESIDE_LINE_PX} className="flex-1 px-2" switchClassName="mx-4 mb-2" onJump={jumpToTurn} />
    </aside>
  );
}

export function ContentsSheet({ onClose, ...rest }: ContentsProps & { onClose(): void }) {
  return (
    <Dialog title="Contents" side onClose={onClose}>
      <Extent
        {...rest}
        linePx={SHEET_LINE_PX}
        className="-mx-3 h-[calc(88dvh-10rem)] md:h-[calc(100dvh-9.5rem)]"
        switchClassName="mb-3"
        onJump={(turn) => {
          onClose();
          jumpToTurn(turn);
        }}
        onLeave={onClose}
      />
    </Dialog>
  );
}

/** The row and the entries come by different ways; whichever has heard of more is right. */
function turnsOf({ row, followed, fenced }: Pick<ContentsProps, "row" | "followed" | "fenced">): number {
  return Math.max(followed.contents.lines.length, fenced ? 0 : row.turns);
}

interface LinesProps extends ContentsProps {
  linePx: number;
  className: string;
  onJump(turn: number): void;
  /** Another session is gone to. */
  onLeave?: () => void;
}

/** This session, or the whole work that it belongs to. */
function Extent({ switchClassName, ...rest }: LinesProps & { switchClassName: string }) {
  const { row, followed, read, linePx, className, onJump, onLeave } = rest;
  const [whole, setWhole] = useState(wholeChosen);
  if (followed.work === null) {
    return <Lines {...rest} />;
  }
  const choose = (chosen: boolean) => {
    wholeChosen = chosen;
    setWhole(chosen);
  };
  return (
    <>
      <div role="group" aria-label="What the contents are of" className={`flex shrink-0 rounded-lg border border-rule p-0.5 text-[0.8125rem] ${switchClassName}`}>
        <Choice pressed={!whole} words="This session" onClick={() => choose(false)} />
        <Choice pressed={whole} words="The whole work" onClick={() => choose(true)} />
      </div>
      {whole ? (
        <WholeWork work={followed.work.id} session={row.id} turns={turnsOf(rest)} read={read} linePx={linePx} className={className} onJump={onJump} onLeave={onLeave} />
      ) : (
        <Lines {...rest} />
      )}
    </>
  );
}

/** Which of the two was chosen last, for as long as the page is loaded: the session may change under it. */
let wholeChosen = false;

function Choice({ pressed, words, onClick }: { pressed: boolean; words: string; onClick(): void }) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      className={`min-h-7 flex-1 rounded-md px-2 max-md:min-h-10 ${pressed ? "bg-press font-medium" : "text-soft hover:text-ink"}`}
      onClick={onClick}
    >
      {words}
    </button>
  );
}

function Lines({ row, followed, read, fenced, linePx, className, onJump }: LinesProps) {
  const app = useApp();
  const { contents } = followed;
  const asked = useRef(new Set<number>());
  const open = useRef(true);
  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);
  const ask = useCallback(
    (page: number) => {
      if (fenced || asked.current.has(page)) {
        return;
      }
      asked.current.add(page);
      const tryOnce = async () => {
        const answer = await app.http.toc(row.id, cursorOf(page));
        if (answer.ok) {
          asked.current.delete(page);
          app.takeToc(row.id, page, answer.value);
        } else if (answer.failure.kind === "unreachable" && open.current) {
          setTimeout(() => void tryOnce(), AGAIN_AFTER_MS);
        }
      };
      void tryOnce();
    },
    [app, row.id, fenced],
  );
  return (
    <ContentsList
      contents={contents}
      total={turnsOf({ row, followed, fenced })}
      current={read?.past === null ? read.turn : null}
      asking={row.state === "needs_you"}
      linePx={linePx}
      className={className}
      onJump={onJump}
      onMissing={ask}
    />
  );
}
