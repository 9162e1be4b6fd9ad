// What is done with sessions from anywhere on the page, and what is to be said of it.
import { useCallback, useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import type { BulkAction, BulkOutcome, Outcome } from "../app/bulkActions";
import { runBulkAction } from "../app/bulkActions";
import { titleOf } from "../state/words";
import { navigate, stillHere } from "../ui/navigation";
import type { SessionRow } from "../wire/names";

export interface Outcomes {
  readonly outcome: Outcome | null;
  /** Says something else, unless that was done meanwhile. */
  next(before: Outcome, next: Outcome | null): void;
  /** Deletes a session and leaves its page; gives what went wrong, if it did. */
  remove(row: SessionRow): Promise<Failure | null>;
  run(action: BulkAction, rows: readonly SessionRow[]): Promise<BulkOutcome>;
}

export function useOutcome(): Outcomes {
  const http = useHttp();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const next = useCallback((before: Outcome, to: Outcome | null) => setOutcome((now) => (now === before ? to : now)), []);
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
      setOutcome({ words: `Deleted “${titleOf(row)}”`, undo: restore });
      return null;
    },
    [http],
  );
  const run = useCallback(
    async (action: BulkAction, rows: readonly SessionRow[]) => {
      const came = await runBulkAction(http, action, rows);
      setOutcome(came);
      return came;
    },
    [http],
  );
  return { outcome, next, remove, run };
}
