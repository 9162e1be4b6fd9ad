// Stops the running turn with the Escape key, pressed twice.
//
// Invariant: one press stops nothing. It only says what the next one would do, for as long as it would; so a press that was
// meant for a field, a menu or nothing at all costs nothing. A key that is held down counts once.
import type { RefObject } from "react";
import { useEffect, useEffectEvent, useState } from "react";

/** How long the second press may take. */
export const AGAIN_MS = 2_000;

interface EscapeToStop {
  running: boolean;
  /** The composer's field: Escape leaves it, and counts. In other fields it does not. */
  field: RefObject<HTMLElement | null>;
  onStop(): void;
}

/** Whether the next press stops the turn. */
export function useEscapeToStop({ running, field, onStop }: EscapeToStop): boolean {
  const [armed, setArmed] = useState(false);
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.repeat || event.defaultPrevented || event.isComposing || !running || !isMeant(event.target, field.current)) {
      return;
    }
    setArmed(!armed);
    if (armed) {
      onStop();
    }
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      press(event);
    };
    window.addEventListener("keydown", listener);
    return () => {
      window.removeEventListener("keydown", listener);
    };
  }, []);
  useEffect(() => {
    if (!armed) {
      return undefined;
    }
    const timer = setTimeout(() => setArmed(false), AGAIN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [armed]);
  return armed && running;
}

function isMeant(target: EventTarget | null, field: HTMLElement | null): boolean {
  if (document.querySelector("dialog[open]") !== null) {
    return false;
  }
  return !(target instanceof HTMLElement) || target === field || !target.matches("input, textarea, select, [contenteditable]");
}
