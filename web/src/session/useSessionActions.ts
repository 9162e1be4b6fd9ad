// What can be done in the open session by key and by name.
import type { RefObject } from "react";

import type { Failure } from "../api/http";
import { useHttp } from "../app/AppContext";
import { useActions } from "../app/actions";
import type { Followed } from "../state/followed";
import { runningTurn, turnCount } from "../state/followed";
import { jumpToTurn } from "../ui/place";
import type { SessionRow } from "../wire/names";
import type { TurnRead } from "./contents/useTurnInView";
import type { ForkWish } from "./forking/ForkContext";
import { useEscapeToStop } from "./composer/useEscapeToStop";
import type { SideTab } from "./side/useSide";

interface SessionActions {
  row: SessionRow;
  followed: Followed;
  running: boolean;
  /** Nothing can be written to it, not even a note. */
  fenced: boolean;
  read: TurnRead | null;
  field: RefObject<HTMLTextAreaElement | null>;
  onFork(wish: ForkWish): void;
  onTab(tab: SideTab): void;
  onApplets(): void;
  onFind: (() => void) | undefined;
  /** Null: nothing is wrong any more. */
  onFailure(failure: Failure | null): void;
}

/** Whether the next press of Escape stops the turn. */
export function useSessionActions({ row, followed, running, fenced, read, field, onFork, onTab, onApplets, onFind, onFailure }: SessionActions): boolean {
  const http = useHttp();
  const turns = turnCount(followed);
  // Of the session above, the next turn is the first of this one.
  const at = read === null ? turns : read.past === null ? read.turn : 0;
  const ended = turns - (runningTurn(followed.transcript) === null ? 0 : 1);
  const stop = () => void http.cancel(row.id).then((answer) => onFailure(answer.ok ? null : answer.failure));
  useActions({
    write: () => field.current?.focus(),
    contents: () => onTab("contents"),
    shown: () => onTab("shown"),
    context: () => onTab("context"),
    changes: () => onTab("changes"),
    plan: () => onTab("plan"),
    applets: onApplets,
    find: onFind,
    "next-turn": turns === 0 ? undefined : () => jumpToTurn(Math.min(at + 1, turns)),
    "previous-turn": turns === 0 ? undefined : () => jumpToTurn(Math.max(at - 1, 1)),
    "first-turn": turns === 0 ? undefined : () => jumpToTurn(1),
    "newest-turn": turns === 0 ? undefined : () => jumpToTurn(turns),
    stop: running ? stop : undefined,
    fork: fenced || ended === 0 ? undefined : () => onFork({ after: ended, edits: null, text: "", images: [] }),
  });
  return useEscapeToStop({ running, field, onStop: stop });
}
