// Asks the server for something that is granted once, under a key of its own.
//
// Invariant: a wish that got no answer goes out again under the same key, since it may have been granted; once it was answered,
// the next one is another wish.
import { useCallback, useRef } from "react";

import type { Answer } from "../api/http";

export type Keyed = <T>(wish: string, ask: (key: string) => Promise<Answer<T>>) => Promise<Answer<T>>;

/** `wish` names what is wanted, among all that the part asks for. */
export function useKeyed(): Keyed {
  const keys = useRef(new Map<string, string>());
  return useCallback(async (wish, ask) => {
    const key = keys.current.get(wish) ?? crypto.randomUUID();
    keys.current.set(wish, key);
    const answer = await ask(key);
    if (answer.ok || answer.failure.kind !== "unreachable") {
      keys.current.delete(wish);
    }
    return answer;
  }, []);
}
