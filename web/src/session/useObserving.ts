// Tells the server that a session which came to rest has been seen: it is open, on a page that is in view.
import { useEffect, useSyncExternalStore } from "react";

import { useHttp } from "../app/AppContext";
import type { SessionRow } from "../wire/names";

export function useObserving(row: SessionRow | undefined, ready: boolean): void {
  const http = useHttp();
  const inView = useSyncExternalStore(subscribe, () => document.visibilityState === "visible");
  const id = row?.id;
  const unseen = row?.unobserved === true;
  const restedAt = row?.meta.lastIdleAt;
  useEffect(() => {
    if (id !== undefined && unseen && ready && inView) {
      // If it is not heard now, it is said again when the session next rests or is opened.
      void http.observe(id);
    }
  }, [http, id, unseen, restedAt, ready, inView]);
}

function subscribe(onChange: () => void): () => void {
  document.addEventListener("visibilitychange", onChange);
  return () => {
    document.removeEventListener("visibilitychange", onChange);
  };
}
