// The address bar as state: which path is shown, and how to go to another without loading the page anew.
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";

const GONE = "throughline:gone";

export function navigate(path: string, how: "push" | "replace" = "push"): void {
  if (path === location.pathname + location.search + location.hash) {
    return;
  }
  if (how === "push") {
    history.pushState(null, "", path);
  } else {
    history.replaceState(null, "", path);
  }
  window.dispatchEvent(new Event(GONE));
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

/** The fields of the address after its `?`, with it. */
export function useSearch(): string {
  return useSyncExternalStore(subscribe, () => location.search);
}

/**
 * For what leads elsewhere when an answer has come: called at the press, it gives a way to ask later whether the person is
 * still on that page. Whoever went to another meanwhile is not taken along.
 */
export function stillHere(): () => boolean {
  const { pathname } = location;
  return () => location.pathname === pathname;
}

/** The same for a dialog: whoever closed it meanwhile is not taken along either. */
export function useStillHere(): () => () => boolean {
  const drawn = useRef(false);
  useEffect(() => {
    drawn.current = true;
    return () => {
      drawn.current = false;
    };
  }, []);
  return useCallback(() => {
    const isHere = stillHere();
    return () => drawn.current && isHere();
  }, []);
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener("popstate", onChange);
  window.addEventListener(GONE, onChange);
  return () => {
    window.removeEventListener("popstate", onChange);
    window.removeEventListener(GONE, onChange);
  };
}

/** A field of the address, `#name=…` or `?name=…`; null where there is none. */
export function addressField(name: string): string | null {
  return new URLSearchParams(location.hash.slice(1)).get(name) ?? new URLSearchParams(location.search).get(name);
}

/** Takes a field out of the address, so that a reload does not repeat what it asked for. */
export function removeAddressField(name: string): void {
  if (addressField(name) === null) {
    return;
  }
  const without = (fields: string, sign: string) => {
    const left = new URLSearchParams(fields.slice(1));
    if (!left.has(name)) {
      return fields;
    }
    left.delete(name);
    return left.size > 0 ? `${sign}${left.toString()}` : "";
  };
  history.replaceState(history.state, "", location.pathname + without(location.search, "?") + without(location.hash, "#"));
}
