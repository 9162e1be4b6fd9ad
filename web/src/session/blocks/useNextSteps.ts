// How the next steps of a session stand, and the way to take one.
//
// Invariant: whether a step is open is the server's word. It is asked when the first step is shown and again whenever one
// came or was taken; a click goes out once, and asked again leads to the same session.
import { createContext, useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { Answer, Failure, Http } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { NextBlock, NextWish } from "../../wire/blocks";
import type { AgentCommand, AgentOption, SessionId } from "../../wire/names";

export interface NextSteps {
  /** Whom the session talks to, and what can be chosen of it. */
  readonly agent: string;
  readonly options: readonly AgentOption[];
  /** What it understands after a slash. */
  readonly commands: readonly AgentCommand[];
  /** By their places, as `t3.n1`; null until the server has said. */
  readonly standing: ReadonlyMap<string, NextBlock> | null;
  /** The session that they are of, if that is not the open one: then none is taken here. */
  readonly past?: SessionId;
  /** Why it is not known how they stand. */
  readonly failure: Failure | null;
  /** A step of this turn is shown: how it stands is wanted from now on. */
  want(turn: number): void;
  lookAgain(): void;
  take(step: string, wish: NextWish): Promise<Failure | null>;
}

export const NextStepsContext = createContext<NextSteps | null>(null);

interface Given {
  session: SessionId;
  agent: string;
  options: readonly AgentOption[];
  commands: readonly AgentCommand[];
  /** Grows whenever a step came or was taken. */
  changed: number;
  onWent(session: SessionId): void;
}

export function useNextSteps({ session, agent, options, commands, changed, onWent }: Given): NextSteps {
  const http = useHttp();
  const [standing, setStanding] = useState<NextSteps["standing"]>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  /** The earliest turn of those. */
  const [wanted, setWanted] = useState<number | null>(null);
  const [looks, setLooks] = useState(0);
  useEffect(() => {
    if (wanted === null) {
      return undefined;
    }
    let newest = true;
    void readSteps(http, session, wanted).then((answer) => {
      if (newest) {
        setFailure(answer.ok ? null : answer.failure);
        setStanding((before) => (answer.ok ? new Map(answer.value.map((block) => [block.id, block])) : before));
      }
    });
    return () => {
      newest = false;
    };
  }, [http, session, wanted, changed, looks]);

  // Whoever went elsewhere meanwhile is not taken along.
  const here = useRef(true);
  const went = useRef(onWent);
  useEffect(() => {
    went.current = onWent;
  });
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, [session]);

  const want = useCallback((turn: number) => setWanted((earliest) => Math.min(earliest ?? turn, turn)), []);
  const lookAgain = useCallback(() => setLooks((count) => count + 1), []);
  const take = useCallback(
    async (step: string, wish: NextWish) => {
      const answer = await http.takeNext(session, step, wish);
      if (!answer.ok) {
        // It may stand otherwise than was thought.
        lookAgain();
        return answer.failure;
      }
      const { sessionId, metaContextId } = answer.value;
      setStanding((before) => {
        const known = before?.get(step);
        return before === null || known === undefined ? before : new Map(before).set(step, { ...known, state: "used", sessionId, metaContextId });
      });
      if (here.current) {
        went.current(sessionId);
      }
      return null;
    },
    [http, session, lookAgain],
  );
  return useMemo(
    () => ({ agent, options, commands, standing, failure, want, lookAgain, take }),
    [agent, options, commands, standing, failure, want, lookAgain, take],
  );
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
