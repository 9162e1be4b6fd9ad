// Reads the contents of a whole work, and again from the open session on when it has another turn.
import { useEffect, useRef, useState } from "react";

import { failureWords } from "../../api/http";
import { useAppState, useHttp } from "../../app/AppContext";
import { numberBefore, takeAfter } from "../../state/wholeWork";
import type { SessionId } from "../../wire/names";
import type { WorkId, WorkTocEntry } from "../../wire/work";

/** A work with more turns than these pages hold shows the first of them. */
const MOST_PAGES = 40;

interface WorkContents {
  entries: readonly WorkTocEntry[];
  /** What is to be said instead of the list. */
  words: string | null;
}

export function useWorkContents(work: WorkId, session: SessionId, turns: number): WorkContents {
  const http = useHttp();
  const [entries, setEntries] = useState<readonly WorkTocEntry[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const known = useRef<readonly WorkTocEntry[]>([]);
  const members = useAppState((state) => state.works.get(work)?.sessionIds.join(" ") ?? "");
  const knownOf = useRef(members);

  useEffect(() => {
    let left = false;
    if (knownOf.current !== members) {
      // One came or went: every number may be another.
      knownOf.current = members;
      known.current = [];
    }
    const read = async () => {
      let after = numberBefore(known.current, session);
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const answer = await http.workToc(work, after);
        if (left) {
          return;
        }
        if (!answer.ok) {
          setFailure(failureWords(answer.failure));
          return;
        }
        known.current = takeAfter(known.current, after, answer.value.entries);
        setEntries(known.current);
        setFailure(null);
        const next = answer.value.next_cursor ?? null;
        if (next === null) {
          return;
        }
        after = Number(next);
      }
    };
    void read();
    return () => {
      left = true;
    };
  }, [http, work, session, turns, members]);
  return { entries: entries ?? [], words: entries !== null ? null : (failure ?? "Reading…") };
}
