// The address bar as state: which path is shown, and how to go to another without loading the page anew.
import { useSyncExternalStore } from "react";

const GONE = "throughline:gone";

export function navigate(path: string, how: "push" | "replace" = "push"): void {
  if (path === location.pathname) {
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
