// Ends the selection with the Escape key, wherever the focus is.
//
// Invariant: a press that ends the selection means nothing else: the document hears it before the window, where the key stops
// the running turn. What lies over the page has the key first, and a field outside of the list has its own use for it.
import type { RefObject } from "react";
import { useEffect, useEffectEvent } from "react";

interface EscapeToEnd {
  /** There is a selection, and it is seen. */
  on: boolean;
  list: RefObject<HTMLElement | null>;
  onEnd(): void;
}

export function useEscapeToEnd({ on, list, onEnd }: EscapeToEnd): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event;
    const inField = target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]") && list.current?.contains(target) !== true;
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || inField || document.querySelector("dialog[open]") !== null) {
      return;
    }
    event.preventDefault();
    onEnd();
  });
  useEffect(() => {
    if (!on) {
      return undefined;
    }
    const listener = (event: KeyboardEvent) => {
      press(event);
    };
    document.addEventListener("keydown", listener);
    return () => {
      document.removeEventListener("keydown", listener);
    };
  }, [on]);
}
