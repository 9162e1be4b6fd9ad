// What the server is asked once, when a page of the settings is opened.
import { useEffect, useState } from "react";

import type { Answer } from "../api/http";

/** Null until the answer has come; asked again in another `round`. */
export function useAsked<T>(ask: () => Promise<Answer<T>>, round = 0): Answer<T> | null {
  const [answer, setAnswer] = useState<Answer<T> | null>(null);
  useEffect(() => {
    let wanted = true;
    void ask().then((came) => {
      if (wanted) {
        setAnswer(came);
      }
    });
    return () => {
      wanted = false;
    };
  }, [ask, round]);
  return answer;
}
