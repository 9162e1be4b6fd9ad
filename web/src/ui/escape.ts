// Puts something away with the Escape key, wherever the focus is.
//
// Invariant: a press that puts something away means nothing else: the document hears it before the window, where the key stops
// the running turn. What lies over the page has the key first, and a field outside of what is put away has its own use for it.
import type { RefObject } from "react";
import { useEffect, useEffectEvent } from "react";

const FIELDS = "input, textarea, select, [contenteditable]";

interface Escaping {
  /** There is something to put away, and it is seen. */
  on: boolean;
  /** Around it. */
  inside: RefObject<HTMLElement | null>;
  onEscape(): void;
}

/** Leaves the field that has the focus, if neither the field nor anything around it has another use for the key. */
export function useEscapeFromField(): void {
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing && target instanceof HTMLElement && target.matches(FIELDS) && target.closest("dialog") === null) {
        target.blur();
      }
    };
    window.addEventListener("keydown", listener);
    return () => {
      window.removeEventListener("keydown", listener);
    };
  }, []);
}

export function useEscape({ on, inside, onEscape }: Escaping): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event;
    const inField = target instanceof HTMLElement && target.matches(FIELDS) && inside.current?.contains(target) !== true;
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
