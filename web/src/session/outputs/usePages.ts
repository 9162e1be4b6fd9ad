// Reads the lines of a long output page by page, as they come into view.
//
// Invariant: a page is asked for once at a time, and only so many are kept, whatever the output's length.
import { useCallback, useEffect, useRef, useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { OutputId, OutputLine, SessionId } from "../../wire/names";
import { LOST, lossOf } from "./useOutput";

export const PAGE_LINES = 200;
const KEPT_PAGES = 40;

export type LinesPage = { readonly kind: "loading" } | { readonly kind: "ready"; readonly lines: readonly OutputLine[] } | { readonly kind: "failed"; readonly words: string; readonly isLost: boolean };

const LOADING: LinesPage = { kind: "loading" };

export interface Pages {
  at(page: number): LinesPage | undefined;
  /** Reads those that are neither here nor on their way. */
  want(from: number, to: number): void;
  retry(page: number): void;
  /** So many lines there are, as far as has been read; null where the end has not been seen. */
  readonly end: number | null;
  /** So many lines there are at least: the number of the furthest one that has been read. */
  readonly furthest: number;
}

export function usePages(session: SessionId, output: OutputId): Pages {
  const http = useHttp();
  const [pages, setPages] = useState<ReadonlyMap<number, LinesPage>>(() => new Map());
  const [end, setEnd] = useState<number | null>(null);
  const [furthest, setFurthest] = useState(0);
  const asked = useRef(new Set<number>());
  const left = useRef(new AbortController());
  useEffect(() => {
    const leaving = (left.current = new AbortController());
    const known = asked.current;
    return () => {
      known.clear();
      leaving.abort();
    };
  }, []);
  const put = (page: number, value: LinesPage) =>
    setPages((before) => {
      const after = new Map(before);
      after.delete(page);
      after.set(page, value);
      for (const oldest of after.keys()) {
        if (after.size <= KEPT_PAGES) {
          break;
        }
        after.delete(oldest);
        asked.current.delete(oldest);
      }
      return after;
    });
  const read = useCallback(
    async (page: number) => {
      const { signal } = left.current;
      put(page, LOADING);
      const last = (page + 1) * PAGE_LINES;
      const lines: OutputLine[] = [];
      for (let first: number | null = page * PAGE_LINES + 1; first !== null; ) {
        const answer = await http.outputLines(session, output, { first, last, limit: PAGE_LINES }, signal);
        if (signal.aborted) {
          return;
        }
        if (!answer.ok) {
          const loss = lossOf(answer.failure);
          put(page, { kind: "failed", words: loss === null ? failureWords(answer.failure) : LOST[loss], isLost: loss !== null });
          return;
        }
        lines.push(...answer.value.lines);
        // Fewer come where they are long.
        first = typeof answer.value.next === "number" && answer.value.next <= last ? answer.value.next : null;
      }
      const upTo = lines.at(-1)?.number ?? 0;
      setFurthest((known) => Math.max(known, upTo));
      if (lines.length < PAGE_LINES) {
        setEnd((known) => Math.min(known ?? Infinity, page * PAGE_LINES + lines.length));
      }
      put(page, { kind: "ready", lines });
    },
    [http, session, output],
  );
  const want = useCallback(
    (from: number, to: number) => {
      for (let page = from; page <= to; page++) {
        if (!asked.current.has(page)) {
          asked.current.add(page);
          void read(page);
        }
      }
    },
    [read],
  );
  return { at: (page) => pages.get(page), want, retry: (page) => void read(page), end, furthest };
}
