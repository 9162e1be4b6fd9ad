// The agents of the server's machine, asked for when somebody wants to see them: first those that are found at once, then all of
// them with their versions, which takes a while.
//
// Invariant: an agent that was there at first keeps its place; what is found later comes after it, so nothing moves under the
// pointer.
import { useEffect, useState } from "react";

import type { Answer, Failure } from "../api/http";
import type { Agent } from "../wire/names";
import { useHttp } from "./AppContext";

export interface Catalog {
  /** What is known so far; null until something has come. */
  readonly answer: Answer<readonly Agent[]> | null;
  /** No more will come. */
  readonly whole: boolean;
  /** Why the whole list did not come. What was found before it is still in `answer`. */
  readonly failure: Failure | null;
}

const NOTHING: Catalog = { answer: null, whole: false, failure: null };

export function useCatalog(): Catalog {
  const http = useHttp();
  const [catalog, setCatalog] = useState(NOTHING);
  useEffect(() => {
    let wanted = true;
    const ask = async () => {
      const first = await http.agents({ soFar: true });
      if (!wanted) {
        return;
      }
      // A server that does not know this question has refused it; the other one is asked all the same.
      const soFar = first.ok ? first.value.agents : null;
      if (soFar !== null) {
        setCatalog({ answer: { ok: true, value: soFar }, whole: false, failure: null });
      }
      const whole = await http.agents();
      if (!wanted) {
        return;
      }
      if (whole.ok) {
        setCatalog({ answer: { ok: true, value: inPlace(soFar ?? [], whole.value.agents) }, whole: true, failure: null });
      } else {
        setCatalog({ answer: soFar === null ? whole : { ok: true, value: soFar }, whole: true, failure: whole.failure });
      }
    };
    void ask();
    return () => {
      wanted = false;
    };
  }, [http]);
  return catalog;
}

/** Those that were installed so far where they were, as they are known now; then the others in their own order. */
export function inPlace(soFar: readonly Agent[], whole: readonly Agent[]): Agent[] {
  const first = soFar.flatMap(({ name, installed }) => (installed ? (whole.find((agent) => agent.name === name) ?? []) : []));
  return [...first, ...whole.filter((agent) => !first.includes(agent))];
}

/** Those that a session can be begun with; also while others are being looked for. */
export function installedIn({ answer }: Catalog): readonly Agent[] {
  return answer?.ok ? answer.value.filter(({ installed }) => installed) : [];
}
