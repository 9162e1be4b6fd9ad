// Everything that a session's agent showed, newest first.
//
// Invariant: what the followed turns hold is there at once and follows live; what lies before them is read from the server, page
// by page to its end, as pages come oldest first. What was removed is in neither.
import { useCallback, useEffect, useMemo, useState } from "react";

import type { Failure } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { Followed } from "../../state/followed";
import type { ListedOutput, Output, OutputId, SessionId } from "../../wire/names";

export interface ShownOutput {
  readonly turn: number;
  readonly output: Output;
}

export interface Shown {
  /** Newest first. */
  readonly outputs: readonly ShownOutput[];
  readonly reading: boolean;
  readonly failure: Failure | null;
  retry(): void;
}

interface Read {
  readonly session: SessionId;
  readonly outputs: readonly ListedOutput[];
  readonly isDone: boolean;
  readonly failure: Failure | null;
}

export function useShown(session: SessionId, followed: Followed): Shown {
  const http = useHttp();
  const [read, setRead] = useState<Read | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let mounted = true;
    const readAll = async () => {
      const outputs: ListedOutput[] = [];
      let after: string | null = null;
      do {
        const answer = await http.outputs(session, after);
        if (!mounted) {
          return;
        }
        if (!answer.ok) {
          setRead({ session, outputs, isDone: false, failure: answer.failure });
          return;
        }
        outputs.push(...answer.value.outputs);
        after = answer.value.nextCursor ?? null;
      } while (after !== null);
      setRead({ session, outputs, isDone: true, failure: null });
    };
    void readAll();
    return () => {
      mounted = false;
    };
  }, [http, session, tries]);
  const known = read?.session === session ? read : null;
  const { turns } = followed.transcript;
  const outputs = useMemo(() => {
    const all = new Map<OutputId, ShownOutput>(known?.outputs.map((output) => [output.id, { turn: output.turn, output }]));
    for (const { turn, items } of turns) {
      for (const item of items) {
        if (item.type === "output" && item.removed) {
          all.delete(item.output.id);
        } else if (item.type === "output") {
          all.set(item.output.id, { turn, output: item.output });
        }
      }
    }
    return [...all.values()].reverse();
  }, [known, turns]);
  const retry = useCallback(() => setTries((count) => count + 1), []);
  return { outputs, reading: known === null, failure: known?.failure ?? null, retry };
}
