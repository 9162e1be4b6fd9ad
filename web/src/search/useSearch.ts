// A search that follows what is typed.
//
// Invariant: at most one question is on its way; what is shown is the answer to the newest query that was answered, and
// says so if a newer one is on its way.
import { useEffect, useState } from "react";

import type { Failure } from "../api/http";
import { useHttp } from "../app/AppContext";
import type { SearchPage } from "../wire/names";

const TYPING_MS = 140;
/** While the index is being built, there is more to find a moment later. */
const INDEXING_MS = 2_000;

export interface Wish {
  readonly query: string;
  readonly exact: boolean;
}

export interface Searching {
  /** The newest answer, and what it answers; null before the first. */
  readonly found: { readonly wish: Wish; readonly page: SearchPage } | null;
  readonly failure: Failure | null;
  /** A newer question is on its way. */
  readonly busy: boolean;
  /** Asks for what follows. */
  more(): void;
}

export function useSearch({ query, exact }: Wish): Searching {
  const http = useHttp();
  const words = query.trim();
  const [found, setFound] = useState<Searching["found"]>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [round, setRound] = useState(0);
  const answered = found !== null && found.wish.query === words && found.wish.exact === exact;

  useEffect(() => {
    if (words === "") {
      return undefined;
    }
    const stop = new AbortController();
    let again: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const answer = await http.search({ q: words, exact }, stop.signal);
      if (stop.signal.aborted) {
        return;
      }
      if (answer.ok) {
        setFound({ wish: { query: words, exact }, page: answer.value });
        setFailure(null);
        if (answer.value.indexing) {
          again = setTimeout(() => setRound((count) => count + 1), INDEXING_MS);
        }
      } else {
        setFailure(answer.failure);
      }
    };
    const timer = setTimeout(() => void ask(), TYPING_MS);
    return () => {
      clearTimeout(timer);
      clearTimeout(again);
      stop.abort();
    };
  }, [http, words, exact, round]);

  const more = async () => {
    const cursor = found?.page.next_cursor;
    if (found === null || !cursor) {
      return;
    }
    const answer = await http.search({ q: found.wish.query, exact: found.wish.exact, after: cursor }, null);
    if (answer.ok) {
      setFound((before) =>
        before === found ? { wish: found.wish, page: { ...answer.value, results: [...found.page.results, ...answer.value.results] } } : before,
      );
    } else {
      setFailure(answer.failure);
    }
  };
  return {
    found: words === "" ? null : found,
    failure: words === "" ? null : failure,
    busy: words !== "" && !answered && failure === null,
    more: () => void more(),
  };
}
