// The values that filters can be completed with: the agents of the catalog, the projects of the sessions in the list, and the
// pieces of work.
import { useMemo } from "react";

import { installedIn, useCatalog } from "../app/useCatalog";
import type { Works } from "../state/works";
import { worksByNewest } from "../state/works";
import type { SessionRow } from "../wire/names";
import type { KnownValues } from "./query";

export function useKnownValues(sessions: readonly SessionRow[], works: Works, now: number): KnownValues {
  // Without an answer the agents of the sessions will do. As text, because what is chosen in a list is lost when it changes without need.
  const installed = installedIn(useCatalog()).map(({ name }) => name).join("\n");
  return useMemo(
    () => ({
      agents: [...new Set([...sessions.map(({ agent }) => agent), ...installed.split("\n").filter((name) => name !== "")])],
      projects: [...new Set(sessions.map(({ project }) => project))],
      works: worksByNewest(works),
      tags: [...new Set(sessions.flatMap(({ tags = [] }) => tags))],
      now,
    }),
    [sessions, installed, works, now],
  );
}
