// Tells the lists of changes that a comment on some lines is being written.
//
// Invariant: while one is open, no diff is replaced by another, so that its lines stay what they were and it is not lost.
import { createContext, useCallback, useMemo, useState } from "react";

export interface OpenComments {
  /** At least one is being written. */
  readonly some: boolean;
  /** One begins; gives what ends it. */
  begin(): () => void;
}

export const OpenCommentsContext = createContext<OpenComments>({ some: false, begin: () => () => undefined });

export function useOpenComments(): OpenComments {
  const [count, setCount] = useState(0);
  const begin = useCallback(() => {
    setCount((before) => before + 1);
    return () => setCount((before) => before - 1);
  }, []);
  const some = count > 0;
  return useMemo(() => ({ some, begin }), [some, begin]);
}
