// Reads the list and the pieces of work to their ends while the picker is open, up to a limit.
import { useEffect, useMemo, useState } from "react";

import { useApp, useAppState } from "../app/AppContext";
import { listedRows } from "../state/sessionList";
import type { SessionRow } from "../wire/names";

const MOST_SESSIONS = 5_000;
const MOST_WORKS = 5_000;

interface Everything {
  /** Most recently active first. */
  rows: readonly SessionRow[];
  /** Still being read. */
  busy: boolean;
  /** There are more than are listed. */
  cut: boolean;
}

/** What is read here stays here: the list beside it has not been asked for it. */
export function useEverything(): Everything {
  const app = useApp();
  const list = useAppState((state) => state.list);
  const [older, setOlder] = useState<ReadonlyMap<string, SessionRow>>(new Map());
  const [sessions, setSessions] = useState<"reading" | "cut" | "whole">("reading");
  const [works, setWorks] = useState<"reading" | "cut" | "whole">("reading");
  const { generation } = list;

  // A list that begins anew ends elsewhere than the one whose end was read on from.
  useEffect(() => {
    let left = false;
    const readSessions = async () => {
      const { extent, rows } = app.store.getState().list;
      const found = new Map<string, SessionRow>();
      let cursor = extent.kind === "part" ? extent.nextCursor : null;
      while (cursor !== null && rows.size + found.size < MOST_SESSIONS) {
        const answer = await app.http.sessionsAfter(cursor, 200);
        if (left || !answer.ok) {
          break;
        }
        for (const row of answer.value.sessions) {
          found.set(row.id, row);
        }
        app.takeWorks(answer.value.metaContexts);
        setOlder(new Map(found));
        cursor = answer.value.nextCursor ?? null;
      }
      if (!left) {
        setSessions(cursor === null ? "whole" : "cut");
      }
    };
    void readSessions();
    return () => {
      left = true;
    };
  }, [app, generation]);
  useEffect(() => {
    let left = false;
    const readWorks = async () => {
      let cursor: string | null = null;
      let count = 0;
      do {
        const answer = await app.http.works(cursor);
        if (left || !answer.ok) {
          break;
        }
        app.takeWorks(answer.value.metaContexts);
        count += answer.value.metaContexts.length;
        cursor = answer.value.nextCursor ?? null;
      } while (cursor !== null && count < MOST_WORKS);
      if (!left) {
        setWorks(cursor === null ? "whole" : "cut");
      }
    };
    void readWorks();
    return () => {
      left = true;
    };
  }, [app]);

  const rows = useMemo(() => {
    const newest = listedRows(list);
    const known = new Set(newest.map(({ id }) => id));
    return [...newest, ...[...older.values()].filter(({ id }) => !known.has(id)).map((row) => list.rows.get(row.id) ?? row)];
  }, [list, older]);
  return { rows, busy: sessions === "reading" || works === "reading", cut: sessions === "cut" || works === "cut" };
}
