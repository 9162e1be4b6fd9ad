// The contents beside the transcript, and as a sheet where there is no room beside it.
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";

import type { App } from "../../state/app";
import type { Followed } from "../../state/followed";
import { cursorOf } from "../../state/contents";
import { Dialog } from "../../ui/Dialog";
import { jumpToTurn } from "../../ui/place";
import type { SessionRow } from "../../wire/names";
import { ContentsList } from "./ContentsList";

interface ContentsProps {
  app: App;
  row: SessionRow;
  followed: Followed;
  current: number | null;
  /** Its log is damaged: only what was read of it is true, and the server's lines may not be. */
  damaged: boolean;
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
      <Lines {...rest} linePx={BESIDE_LINE_PX} className="flex-1 px-2" onJump={jumpToTurn} />
    </aside>
  );
}

export function ContentsSheet({ onClose, ...rest }: ContentsProps & { onClose(): void }) {
  return (
    <Dialog title="Contents" side onClose={onClose}>
      <Lines
        {...rest}
        linePx={SHEET_LINE_PX}
        className="-mx-3 h-[calc(88dvh-7rem)] md:h-[calc(100dvh-6.5rem)]"
        onJump={(turn) => {
          onClose();
          jumpToTurn(turn);
        }}
      />
    </Dialog>
  );
}

/** The row and the entries come by different ways; whichever has heard of more is right. */
function turnsOf({ row, followed, damaged }: Pick<ContentsProps, "row" | "followed" | "damaged">): number {
  return Math.max(followed.contents.lines.length, damaged ? 0 : row.turns);
}

interface LinesProps extends ContentsProps {
  linePx: number;
  className: string;
  onJump(turn: number): void;
}

function Lines({ app, row, followed, current, damaged, linePx, className, onJump }: LinesProps) {
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
      if (damaged || asked.current.has(page)) {
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
    [app, row.id, damaged],
  );
  return (
    <ContentsList
      contents={contents}
      total={turnsOf({ row, followed, damaged })}
      current={current}
      asking={row.state === "needs_you"}
      linePx={linePx}
      className={className}
      onJump={onJump}
      onMissing={ask}
    />
  );
}

const SETTING = "throughline.contents";
const CHANGED = "throughline:contents";

/** Whether the contents stand beside the transcript where there is room; remembered in this browser. */
export function useContentsBeside(): [boolean, (shown: boolean) => void] {
  const shown = useSyncExternalStore(
    (onChange) => {
      addEventListener(CHANGED, onChange);
      return () => {
        removeEventListener(CHANGED, onChange);
      };
    },
    () => localStorage.getItem(SETTING) !== "hidden",
  );
  return [
    shown,
    (show) => {
      if (show) {
        localStorage.removeItem(SETTING);
      } else {
        localStorage.setItem(SETTING, "hidden");
      }
      dispatchEvent(new Event(CHANGED));
    },
  ];
}
