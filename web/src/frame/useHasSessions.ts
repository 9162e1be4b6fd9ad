// Whether there are sessions at all. The list comes without archived ones, so where it is empty they are asked for.
import { useEffect, useState } from "react";

import { useApp, useAppState } from "../app/AppContext";

/** A page may hold none and say that there are more to look through. */
const MOST_PAGES = 20;

/** Null until it is known. */
export function useHasSessions(): boolean | null {
  const app = useApp();
  const any = useAppState(({ list }) => list.rows.size > 0);
  const read = useAppState(({ list }) => list.extent.kind !== "unread");
  const generation = useAppState(({ list }) => list.generation);
  const [none, setNone] = useState(false);
  const empty = read && !any;
  useEffect(() => {
    if (!empty) {
      return undefined;
    }
    const gone = new AbortController();
    const ask = async () => {
      let after: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const answer = await app.http.findSessions({ archived: "only", limit: 1, ...(after !== undefined && { after }) }, gone.signal);
        if (gone.signal.aborted) {
          return;
        }
        if (answer.ok && answer.value.sessions.length > 0) {
          app.takeFound(answer.value);
          return;
        }
        if (!answer.ok || !answer.value.nextCursor) {
          break;
        }
        after = answer.value.nextCursor;
      }
      setNone(true);
    };
    void ask();
    return () => {
      gone.abort();
    };
  }, [app, empty, generation]);
  return any ? true : empty && none ? false : null;
}
