// Says that the connection is lost, and until when what is shown was true. It stands where how things are would stand,
// since that is not known meanwhile: it moves nothing and covers nothing.
import type { ReactNode } from "react";
import { useEffect, useState } from "react";

import { useAppState } from "../app/AppContext";
import { timeOfDay, useNow } from "../ui/time";

/** A connection that is back at once is not worth a word. */
const PATIENCE_MS = 1_000;

/** Null while there is nothing to say. */
export function useConnectionNotice(): ReactNode {
  const connection = useAppState((state) => state.connection);
  const lost = connection.kind === "lost";
  const now = useNow();
  const [waited, setWaited] = useState(false);
  useEffect(() => {
    if (!lost) {
      return;
    }
    const timer = setTimeout(() => setWaited(true), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setWaited(false);
    };
  }, [lost]);

  if (connection.kind !== "lost" || !waited) {
    return null;
  }
  return (
    <p className="truncate rounded-md border border-failed px-2 py-0.5 text-[0.875rem]">
      <strong className="font-semibold text-failed">Connection lost.</strong> Trying again…
      {connection.lastHeardAt !== null && <span className="text-soft max-lg:hidden"> Last synced {timeOfDay(connection.lastHeardAt, now)}.</span>}
    </p>
  );
}
