// The address bar as state: which path is shown, and how to go to another without loading the page anew.
import { useSyncExternalStore } from "react";

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
