// A part of the page whose code is not in the first load.
//
// Invariant: a part that is wanted is either there, on its way, or said to have failed; what failed is asked for again, after
// a while, when the browser is online again, and when the person asks.
import { useCallback, useEffect, useRef, useState } from "react";

/** Its code comes so long after the first load, or when it is wanted. */
const AFTER_MS = 1_000;
/** What has not come by then is said to have failed; it is still taken when it comes. */
export const TOO_LONG_MS = 10_000;
/** How long to wait after each failure; the last one holds for all that follow. */
export const RETRY_MS = [2_000, 5_000, 15_000, 60_000] as const;

export type Part<P> = { readonly kind: "loading" } | { readonly kind: "failed"; retry(): void } | { readonly kind: "ready"; readonly part: P };

const LOADING = { kind: "loading" } as const;

/**
 * A part of the page once it is loaded. Not by `lazy`, which shows nothing for a moment even if all is there: what is
 * typed right after the keys that open it is meant for it.
 */
export function usePart<P>(load: () => Promise<P>, wanted: boolean): Part<P> {
  const [part, setPart] = useState<{ part: P } | null>(null);
  const [failures, setFailures] = useState(0);
  const missing = part === null;
  const asking = useRef(false);
  const wantedNow = useRef(wanted);
  useEffect(() => {
    wantedNow.current = wanted;
  }, [wanted]);
  const ask = useCallback(() => {
    if (asking.current) {
      return;
    }
    asking.current = true;
    const end = (failed: boolean) => {
      if (asking.current) {
        asking.current = false;
        clearTimeout(late);
        // What nobody wants may fail: it is asked for again when it is wanted.
        if (failed && wantedNow.current) {
          setFailures((count) => count + 1);
        }
      }
    };
    const late = setTimeout(() => end(true), TOO_LONG_MS);
    load().then(
      (loaded) => {
        end(false);
        setPart({ part: loaded });
      },
      () => end(true),
    );
  }, [load]);

  useEffect(() => {
    if (!missing) {
      return undefined;
    }
    const timer = setTimeout(ask, wanted ? 0 : AFTER_MS);
    addEventListener("online", ask);
    return () => {
      clearTimeout(timer);
      removeEventListener("online", ask);
    };
  }, [missing, wanted, ask]);
  useEffect(() => {
    if (!missing || !wanted || failures === 0) {
      return undefined;
    }
    const timer = setTimeout(ask, RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]);
    return () => {
      clearTimeout(timer);
    };
  }, [missing, wanted, failures, ask]);

  if (part !== null) {
    return { kind: "ready", part: part.part };
  }
  return failures > 0 ? { kind: "failed", retry: ask } : LOADING;
}
