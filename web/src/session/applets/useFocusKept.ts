// The focus of whoever presses a button that goes with the press.
//
// Invariant: it stays in the panel that has its own keys, so that no letter becomes a shortcut.
import type { RefObject } from "react";
import { useLayoutEffect } from "react";

export function useFocusKept(inside: RefObject<HTMLElement | null>): void {
  // While it is still part of the page: what is gone has lost the focus already.
  useLayoutEffect(() => {
    const element = inside.current;
    return () => {
      if (element?.contains(document.activeElement)) {
        element.closest<HTMLElement>("[data-own-keys]")?.focus({ preventScroll: true });
      }
    };
  }, [inside]);
}
