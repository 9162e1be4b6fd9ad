// Puts something away with the Escape key, wherever the focus is.
//
// Invariant: a press that puts something away means nothing else: the document hears it before the window, where the key stops
// the running turn. What lies over the page has the key first, and a field outside of what is put away has its own use for it.
import type { RefObject } from "react";
import { useEffect, useEffectEvent } from "react";

interface Escaping {
  /** There is something to put away, and it is seen. */
  on: boolean;
  /** Around it. */
  inside: RefObject<HTMLElement | null>;
  onEscape(): void;
}

export function useEscape({ on, inside, onEscape }: Escaping): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event;
    const inField = target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]") && inside.current?.contains(target) !== true;
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || inField || document.querySelector("dialog[open]") !== null) {
      return;
    }
    event.preventDefault();
    onEscape();
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
