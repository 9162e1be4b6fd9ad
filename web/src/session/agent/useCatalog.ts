// The agents of the server's machine, asked for when somebody wants to see them: finding their versions takes a while.
import { useEffect, useState } from "react";

import type { Answer } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { Agent } from "../../wire/names";

/** Null until they have come. */
export function useCatalog(): Answer<readonly Agent[]> | null {
  const http = useHttp();
  const [catalog, setCatalog] = useState<Answer<readonly Agent[]> | null>(null);
  useEffect(() => {
    let wanted = true;
    void http.agents().then((answer) => {
      if (wanted) {
        setCatalog(answer.ok ? { ok: true, value: answer.value.agents } : answer);
      }
    });
    return () => {
      wanted = false;
    };
  }, [http]);
  return catalog;
}
