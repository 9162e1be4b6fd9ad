// Reads the work that the open session belongs to, where the list has not told of it.
import { useEffect } from "react";
import { useStore } from "zustand";

import type { App } from "../state/app";
import type { WorkId } from "../wire/work";

export function useKnownWork(app: App, id: WorkId | null): void {
  const missing = useStore(app.store, (state) => id !== null && !state.works.has(id));
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
