// Hands what turns used to whatever shows it.
import { createContext, use, useEffect, useMemo, useSyncExternalStore } from "react";

import { useAppState, useHttp } from "../../app/AppContext";
import type { SessionId } from "../../wire/names";
import type { SessionUsage, TurnUsed } from "../../wire/usage";
import { UsageBook } from "./usageBook";

export const UsageContext = createContext<UsageBook | null>(null);

/** For the sessions of one page. */
export function useUsageBook(): UsageBook {
  const http = useHttp();
  const book = useMemo(() => new UsageBook(http.sessionUsage), [http]);
  const live = useAppState((state) => state.connection.kind === "live");
  useEffect(() => {
    if (live) {
      book.retry();
    }
  }, [book, live]);
  return book;
}

const nothing = () => () => undefined;

/** What a turn used; null until that is known, and while it runs. */
export function useTurnUsed(session: SessionId, turn: number): TurnUsed | null {
  const book = use(UsageContext);
  const used = useSyncExternalStore(book?.subscribe ?? nothing, () => book?.of(session)?.turns.get(turn) ?? null);
  useEffect(() => book?.want(session, turn), [book, session, turn]);
  return used;
}

/** What a session used up to its newest turn that has ended; null until that is known. */
export function useSessionUsage(session: SessionId, ended: number): SessionUsage | null {
  const book = use(UsageContext);
  const used = useSyncExternalStore(book?.subscribe ?? nothing, () => book?.of(session)?.newest ?? null);
  useEffect(() => {
    if (ended > 0) {
      book?.want(session, ended);
    }
  }, [book, session, ended]);
  return used;
}
