// Says that the connection is lost, and until when what is shown was true. It lies over the header, so that it moves
// nothing and covers no words that somebody may be reading.
import { useEffect, useState } from "react";
import { useStore } from "zustand";

import type { App } from "./state/app";
import { timeOfDay, useNow } from "./ui/time";

/** A connection that is back at once is not worth a word. */
const PATIENCE_MS = 1_000;

export function ConnectionBanner({ app }: { app: App }) {
  const connection = useStore(app.store, (state) => state.connection);
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

  return (
    <div role="status" className="safe-top pointer-events-none fixed inset-x-13 top-1 z-10 flex justify-center md:inset-x-auto md:top-3.5 md:right-6">
      {connection.kind === "lost" && waited && (
        <p className="rounded-2xl border border-rule bg-paper px-4 py-1.5 text-center leading-snug md:py-2 text-sm shadow-sheet">
          <span className="inline-block">
            <strong className="font-semibold">Connection lost.</strong> Trying again…
          </span>{" "}
          {connection.lastHeardAt !== null && (
            <span className="inline-block text-soft">Last synced {timeOfDay(connection.lastHeardAt, now)}.</span>
          )}
        </p>
      )}
    </div>
  );
}
