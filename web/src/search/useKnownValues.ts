// The values that filters can be completed with: the agents of the catalog, the projects of the sessions in the list, and the
// pieces of work.
import { useEffect, useMemo, useState } from "react";

import { useHttp } from "../app/AppContext";
import type { Works } from "../state/works";
import { worksByNewest } from "../state/works";
import type { SessionRow } from "../wire/names";
import type { KnownValues } from "./query";

export function useKnownValues(sessions: readonly SessionRow[], works: Works, now: number): KnownValues {
  const http = useHttp();
  const [catalog, setCatalog] = useState<readonly string[]>([]);
  useEffect(() => {
    let wanted = true;
    // Without an answer the agents of the sessions will do.
    void http.agents().then((answer) => {
      if (wanted && answer.ok) {
        setCatalog(answer.value.agents.filter(({ installed }) => installed).map(({ name }) => name));
      }
    });
    return () => {
      wanted = false;
    };
  }, [http]);
  return useMemo(
    () => ({
      agents: [...new Set([...sessions.map(({ agent }) => agent), ...catalog])],
      projects: [...new Set(sessions.map(({ project }) => project))],
      works: worksByNewest(works),
      now,
    }),
    [sessions, catalog, works, now],
  );
}
