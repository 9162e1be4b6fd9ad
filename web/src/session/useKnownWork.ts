// Reads the work that the open session belongs to, where the list has not told of it.
import { useEffect } from "react";

import { useApp, useAppState } from "../app/AppContext";
import type { WorkId } from "../wire/work";

export function useKnownWork(id: WorkId | null): void {
  const app = useApp();
  const missing = useAppState((state) => id !== null && !state.works.has(id));
  useEffect(() => {
    if (id === null || !missing) {
      return undefined;
    }
    let left = false;
    void app.http.work(id).then((answer) => {
      // Without an answer its name, which the session brought along, has to do.
      if (answer.ok && !left) {
        app.takeWorks([answer.value]);
      }
    });
    return () => {
      left = true;
    };
  }, [app, id, missing]);
}
