// A search in the open session that follows what is typed, and where the reader is in what was found.
//
// Invariant: at most one question is on its way. A new answer begins at the first turn found from where the reader is.
import { useEffect, useState } from "react";

import type { Failure } from "../../api/http";
import { FOUND_TURNS } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { jumpToTurn } from "../../ui/place";
import type { SessionId, TocEntry } from "../../wire/names";

const TYPING_MS = 160;

export interface Found {
  readonly query: string;
  readonly exact: boolean;
  /** In the order of the turns. */
  readonly turns: readonly TocEntry[];
  /** How many there are in all. */
  readonly total: number;
  readonly notes: readonly string[];
  /** Which of them the reader is at. */
  readonly at: number;
}

export interface Finding {
  readonly found: Found | null;
  readonly failure: Failure | null;
  step(by: 1 | -1): void;
}

export function useFind(session: SessionId, query: string, exact: boolean, current: () => number): Finding {
  const http = useHttp();
  const words = query.trim();
  const [answer, setAnswer] = useState<{ found: Found | null; failure: Failure | null }>({ found: null, failure: null });
  useEffect(() => {
    if (words === "") {
      return undefined;
    }
    const stop = new AbortController();
    const ask = async () => {
      const heard = await http.searchSession(session, { q: words, exact }, stop.signal);
      if (stop.signal.aborted) {
        return;
      }
      if (!heard.ok) {
        setAnswer({ found: null, failure: heard.failure });
        return;
      }
      const turns = heard.value.entries.toSorted((a, b) => a.turn - b.turn);
      const from = turns.findIndex(({ turn }) => turn >= current());
      const at = Math.max(from, 0);
      setAnswer({ found: { query: words, exact, turns, total: heard.value.matches ?? turns.length, notes: heard.value.notes ?? [], at }, failure: null });
      const first = turns[at];
      if (first !== undefined) {
        jumpToTurn(first.turn);
      }
    };
    const timer = setTimeout(() => void ask(), TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // Where the reader is matters when the answer comes, and is no reason to ask again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [http, session, words, exact]);
  const { found, failure } = words === "" ? { found: null, failure: null } : answer;
  return {
    found,
    failure,
    step(by) {
      if (found === null || found.turns.length === 0) {
        return;
      }
      const at = (found.at + by + found.turns.length) % found.turns.length;
      setAnswer({ found: { ...found, at }, failure: null });
      const next = found.turns[at];
      if (next !== undefined) {
        jumpToTurn(next.turn);
      }
    },
  };
}

/** "3 of 12 turns". */
export function placeWords({ turns, total, at }: Found): string {
  if (turns.length === 0) {
    return "Nothing found";
  }
  const all = total > turns.length ? `the first ${FOUND_TURNS} of ${total} turns` : `${turns.length} ${turns.length === 1 ? "turn" : "turns"}`;
  return `${at + 1} of ${all}`;
}
