// What is done with sessions from anywhere on the page, and what is to be said of it.
import { useCallback, useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import type { BulkAction, BulkOutcome, Outcome } from "../app/bulkActions";
import { runBulkAction } from "../app/bulkActions";
import { titleOf } from "../state/words";
import { navigate, stillHere, usePath } from "../ui/navigation";
import type { SessionRow } from "../wire/names";

export interface Outcomes {
  readonly outcome: Outcome | null;
  /** Says something else, unless that was done meanwhile. */
  next(before: Outcome, next: Outcome | null): void;
  /** Deletes a session and leaves its page; gives what went wrong, if it did. */
  remove(row: SessionRow): Promise<Failure | null>;
  run(action: BulkAction, rows: readonly SessionRow[]): Promise<BulkOutcome>;
}

/** What is said, and the page that it is said on. */
interface Said {
  readonly outcome: Outcome;
  readonly path: string;
}

function sayHere(outcome: Outcome | null): Said | null {
  return outcome === null ? null : { outcome, path: location.pathname };
}

export function useOutcome(): Outcomes {
  const http = useHttp();
  const [said, setSaid] = useState<Said | null>(null);
  // Whoever goes on to another page has done with it.
  const path = usePath();
  const outcome = said?.path === path ? said.outcome : null;
  const next = useCallback((before: Outcome, to: Outcome | null) => setSaid((now) => (now?.outcome === before ? sayHere(to) : now)), []);
  const remove = useCallback(
    async (row: SessionRow) => {
      const answer = await http.deleteSession(row.id);
      if (!answer.ok) {
        return answer.failure;
      }
      const restore = async (): Promise<Outcome | null> => {
        const isHere = stillHere();
        const restored = await http.restoreSession(row.id);
        if (!restored.ok) {
          return { words: failureWords(restored.failure), undo: restore };
        }
        if (isHere()) {
          navigate(`/s/${row.id}`);
        }
        return null;
      };
      // Whoever went elsewhere meanwhile stays there.
      if (location.pathname === `/s/${row.id}`) {
        navigate("/");
      }
      setSaid(sayHere({ words: `Deleted “${titleOf(row)}”`, undo: restore }));
      return null;
    },
    [http],
  );
  const run = useCallback(
    async (action: BulkAction, rows: readonly SessionRow[]) => {
      const came = await runBulkAction(http, action, rows);
      setSaid(sayHere(came));
      return came;
    },
    [http],
  );
  return { outcome, next, remove, run };
}
