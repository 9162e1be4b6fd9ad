// How the next steps of a session stand, as the server says.
import { useCallback, useEffect, useState } from "react";

import type { Answer, Failure, Http } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { NextBlock } from "../../wire/blocks";
import type { SessionId } from "../../wire/names";

export interface Standing {
  /** By their places, as `t3.n1`; null until the server has said. */
  readonly standing: ReadonlyMap<string, NextBlock> | null;
  /** Why it is not known how they stand now. */
  readonly failure: Failure | null;
}

interface Wanted {
  session: SessionId;
  /** The earliest turn whose steps are wanted; null while none is. */
  from: number | null;
  /** Asked again whenever this is another. */
  changed: string;
}

export function useStanding({ session, from, changed }: Wanted): Standing & { change(step: string, news: Partial<NextBlock>): void } {
  const http = useHttp();
  const [standing, setStanding] = useState<Standing["standing"]>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    if (from === null) {
      return undefined;
    }
    let newest = true;
    void readSteps(http, session, from).then((answer) => {
      if (newest) {
        setFailure(answer.ok ? null : answer.failure);
        setStanding((before) => (answer.ok ? new Map(answer.value.map((block) => [block.id, block])) : before));
      }
    });
    return () => {
      newest = false;
    };
  }, [http, session, from, changed]);
  const change = useCallback(
    (step: string, news: Partial<NextBlock>) =>
      setStanding((before) => {
        const known = before?.get(step);
        return before === null || known === undefined ? before : new Map(before).set(step, { ...known, ...news });
      }),
    [],
  );
  return { standing, failure, change };
}

/** Those of this turn and later ones; they come newest first. */
async function readSteps(http: Http, session: SessionId, from: number): Promise<Answer<NextBlock[]>> {
  const blocks: NextBlock[] = [];
  let before: string | null = null;
  do {
    const answer = await http.nextSteps(session, before);
    if (!answer.ok) {
      return answer;
    }
    blocks.push(...answer.value.blocks);
    before = answer.value.nextCursor ?? null;
  } while (before !== null && (blocks.at(-1)?.turn ?? 0) >= from);
  return { ok: true, value: blocks };
}
