// The contents, in the side panel or its sheet.
import { useCallback, useEffect, useRef, useState } from "react";

import { useApp } from "../../app/AppContext";
import type { Followed } from "../../state/followed";
import { counted } from "../../ui/counted";
import { Hint } from "../../ui/Hint";
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

interface ContentsTabProps extends ContentsProps {
  place: "beside" | "sheet";
  /** The reader goes to a turn or to another session. */
  onJump(): void;
}

export function ContentsTab({ place, onJump, ...rest }: ContentsTabProps) {
  const jump = (turn: number) => {
    onJump();
    jumpToTurn(turn);
  };
  return place === "beside" ? (
    <>
      <p className="px-4 pt-3 pb-2 text-xs text-soft tabular-nums">{turnsOf(rest) === 0 ? "No turn yet" : counted(turnsOf(rest), "turn")}</p>
      <ContentsHint className="mx-4 mb-2" />
      <Extent {...rest} linePx={BESIDE_LINE_PX} className="flex-1 px-2" switchClassName="mx-4 mb-2" onJump={jump} onLeave={onJump} />
    </>
  ) : (
    // As high as the sheet leaves it, so that the list alone scrolls and its last line is whole, whatever stands above it.
    <div className="flex h-[calc(88dvh-9.75rem-env(safe-area-inset-bottom))] flex-col md:h-[calc(100dvh-10rem)]">
      <ContentsHint className="mb-3 shrink-0" />
      <Extent {...rest} linePx={SHEET_LINE_PX} className="-mx-3 flex-1" switchClassName="mb-3" onJump={jump} onLeave={onJump} />
    </div>
  );
}

function ContentsHint({ className }: { className: string }) {
  return (
    <Hint id="contents" className={className}>
      One line for each turn, written as it ends. Press one to go there
      <span className="pointer-coarse:hidden">
        ; <kbd>t</kbd> shows and hides them
      </span>
      .
    </Hint>
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
  // By page; with what waits to ask again, where something does.
  const asked = useRef(new Map<number, ReturnType<typeof setTimeout> | null>());
  const left = useRef(false);
  useEffect(() => {
    const pages = asked.current;
    left.current = false;
    return () => {
      left.current = true;
      pages.forEach((again) => clearTimeout(again ?? undefined));
      pages.clear();
    };
  }, []);
  const ask = useCallback(
    (page: number) => {
      if (fenced || asked.current.has(page)) {
        return;
      }
      asked.current.set(page, null);
      const tryOnce = async () => {
        const failure = await app.readToc(row.id, page);
        if (failure === null) {
          asked.current.delete(page);
        } else if (failure.kind === "unreachable" && !left.current) {
          asked.current.set(page, setTimeout(() => void tryOnce(), AGAIN_AFTER_MS));
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
