// The sessions that the list shows, and the way to more of them: the whole list as it comes, or what a filter asks for.
//
// Invariant: rows live in the app's state alone, so what changes is seen at once; here is only how far a filter's pages were
// read. When the list begins anew, as after a lost connection, the filter is asked for again, as far down as it had been read. What
// an answer says counts for the question that it was given to, and for no later one.
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";

import { failureWords } from "../api/http";
import { useApp, useAppState } from "../app/AppContext";
import type { ListKey } from "../state/sessionList";
import { compareKeys, keyOfCursor, knownRows, LIST_PAGE, listedRows } from "../state/sessionList";
import type { SessionPage, SessionRow } from "../wire/names";
import type { ListView } from "./view";
import { matcherOf, queryOf } from "./view";

const TYPING_MS = 150;

export interface ListRows {
  readonly rows: readonly SessionRow[];
  /** Nothing has come yet. */
  readonly unread: boolean;
  readonly reading: boolean;
  /** There are more, further down. */
  readonly more: boolean;
  readonly failure: string | null;
  readOn(): void;
}

/** How far the pages of a filter have been read. */
interface Found {
  readonly last: ListKey | null;
  readonly cursor: string | null;
}

/** What was asked, in which generation of the list, and what is known of the answer. */
interface Question {
  readonly generation: number;
  /** The filter; null for the whole list. */
  readonly key: string | null;
  readonly found: Found | null;
  readonly failure: string | null;
  readonly reading: boolean;
}

export function useListRows(view: ListView): ListRows {
  const app = useApp();
  const list = useAppState((state) => state.list);
  const works = useAppState((state) => state.works);
  const query = queryOf(view);
  const key = query === null ? null : JSON.stringify(query);
  const { generation } = list;
  const [known, setKnown] = useState<Question>(() => unanswered(key, generation));
  const question = known.key === key && known.generation === generation ? known : unanswered(key, generation);
  /** Stops when another question is asked. */
  const current = useRef<AbortController | null>(null);
  const busy = useRef<AbortController | null>(null);

  /** How far this filter had been read when it was last answered. */
  const readBefore = useEffectEvent(() => (known.key === key ? known.found : null));

  // What is typed is asked for when the fingers rest, and what is not wanted any more is stopped.
  useEffect(() => {
    const gone = new AbortController();
    current.current = gone;
    const before = readBefore();
    const ask = async () => {
      if (key === null) {
        return;
      }
      let found: Found | null = null;
      do {
        const answer = await app.http.findSessions({ ...(JSON.parse(key) as object), ...(found?.cursor && { after: found.cursor }) }, gone.signal);
        if (gone.signal.aborted) {
          return;
        }
        if (!answer.ok) {
          setKnown({ ...unanswered(key, generation), found, failure: failureWords(answer.failure) });
          return;
        }
        app.takeFound(answer.value);
        found = reached(answer.value);
      } while (before !== null && isAbove(found, before));
      setKnown({ ...unanswered(key, generation), found });
    };
    const timer = setTimeout(() => void ask(), TYPING_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [app, key, generation]);

  const fresh = useMemo(
    () => (key === null ? listedRows(list) : knownRows(list, matcherOf(view, works), question.found?.last ?? null)),
    [key, list, view, works, question.found],
  );
  // Until a filter has its answer from a list that began anew, its rows are shown as they were.
  const asking = key !== null && question.found === null && question.failure === null;
  const [before, setBefore] = useState<{ key: string | null; generation: number; rows: readonly SessionRow[] }>({ key: null, generation, rows: [] });
  if (key !== null && !asking && before.rows !== fresh) {
    setBefore({ key, generation, rows: fresh });
  }
  const rows = asking && before.key === key && before.generation !== generation ? before.rows : fresh;

  const cursor = key === null ? (list.extent.kind === "part" ? list.extent.nextCursor : null) : (question.found?.cursor ?? null);
  const readOn = useCallback(() => {
    const asked = current.current;
    if (cursor === null || asked === null || busy.current === asked) {
      return;
    }
    busy.current = asked;
    const change = (news: Partial<Question>) => setKnown((now) => ({ ...(now.key === key && now.generation === generation ? now : unanswered(key, generation)), ...news }));
    change({ reading: true, failure: null });
    const answered = key === null ? app.http.sessionsAfter(cursor, LIST_PAGE) : app.http.findSessions({ ...(JSON.parse(key) as object), after: cursor }, asked.signal);
    void answered.then((answer) => {
      if (busy.current === asked) {
        busy.current = null;
      }
      if (answer.ok && key === null) {
        app.takePage(answer.value, cursor);
      }
      if (asked.signal.aborted) {
        return;
      }
      if (answer.ok && key !== null) {
        app.takeFound(answer.value);
      }
      change({ reading: false, ...(!answer.ok ? { failure: failureWords(answer.failure) } : key === null ? {} : { found: reached(answer.value) }) });
    });
  }, [app, cursor, key, generation]);

  const unread = key === null ? list.extent.kind === "unread" : asking && rows.length === 0;
  return { rows, unread, reading: question.reading, more: cursor !== null, failure: question.failure, readOn };
}

function unanswered(key: string | null, generation: number): Question {
  return { key, generation, found: null, failure: null, reading: false };
}

/** Whether it reaches less far down. */
function isAbove(found: Found, before: Found): boolean {
  return found.last !== null && (before.last === null || compareKeys(found.last, before.last) < 0);
}

function reached({ nextCursor }: SessionPage): Found {
  return nextCursor === null || nextCursor === undefined ? { last: null, cursor: null } : { last: keyOfCursor(nextCursor), cursor: nextCursor };
}
