// How the next steps of a session stand, and the way to take one.
//
// Invariant: whether a step is open is the server's word. It is asked when the first step is shown and again whenever one
// came or was taken; a click goes out once, and asked again leads to the same session.
import { createContext, useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { Failure } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { NextWish } from "../../wire/blocks";
import type { AgentCommand, AgentOption, SessionId } from "../../wire/names";
import type { Standing } from "./useStanding";
import { useStanding } from "./useStanding";

export interface NextSteps extends Standing {
  /** Whom the session talks to, and what can be chosen of it. */
  readonly agent: string;
  readonly options: readonly AgentOption[];
  /** What it understands after a slash. */
  readonly commands: readonly AgentCommand[];
  /** The session that they are of, if that is not the open one: then none is taken here. */
  readonly past?: SessionId;
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
  /** The earliest turn of those. */
  const [wanted, setWanted] = useState<number | null>(null);
  const [looks, setLooks] = useState(0);
  const { standing, failure, change } = useStanding({ session, from: wanted, changed: `${changed} ${looks}` });

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
      change(step, { state: "used", sessionId, metaContextId });
      if (here.current) {
        went.current(sessionId);
      }
      return null;
    },
    [http, session, lookAgain, change],
  );
  return useMemo(
    () => ({ agent, options, commands, standing, failure, want, lookAgain, take }),
    [agent, options, commands, standing, failure, want, lookAgain, take],
  );
}
