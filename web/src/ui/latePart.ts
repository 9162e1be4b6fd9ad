// A part of the page whose code comes when it is first wanted.
//
// Invariant: it is loaded once for the whole page, and drawn at once from then on. One that did not come is said to have failed,
// and is asked for again when the browser is online again and when the person asks.
import { useEffect, useSyncExternalStore } from "react";

export type Late<P> = { readonly kind: "loading" } | { readonly kind: "failed"; retry(): void } | { readonly kind: "ready"; readonly part: P };

export interface LatePart<P> {
  now(): Late<P>;
  ask(): void;
  subscribe(listener: () => void): () => void;
}

export function latePart<P>(load: () => Promise<P>): LatePart<P> {
  const listeners = new Set<() => void>();
  let late: Late<P> = { kind: "loading" };
  let asking = false;
  const change = (to: Late<P>) => {
    late = to;
    listeners.forEach((listener) => listener());
  };
  const ask = () => {
    if (asking || late.kind === "ready") {
      return;
    }
    asking = true;
    load().then(
      (part) => change({ kind: "ready", part }),
      () => {
        asking = false;
        change({ kind: "failed", retry: ask });
      },
    );
  };
  return {
    now: () => late,
    ask,
    subscribe(listener) {
      listeners.add(listener);
      addEventListener("online", ask);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) {
          removeEventListener("online", ask);
        }
      };
    },
  };
}

export function useLatePart<P>(part: LatePart<P>, wanted: boolean): Late<P> {
  const late = useSyncExternalStore(part.subscribe, part.now);
  useEffect(() => {
    if (wanted) {
      part.ask();
    }
  }, [part, wanted]);
  return late;
}
