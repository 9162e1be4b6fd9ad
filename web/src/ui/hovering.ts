// Whether something is looked at: the pointer rests on it, or the keyboard has come to it.
//
// Invariant: a pointer that passes by, and a focus that comes from a press, show nothing; Escape hides what is shown.
import type { FocusEvent, PointerEvent } from "react";
import { useEffect, useRef, useState } from "react";

const SHOW_AFTER_MS = 450;
/** The way from the one to the other leads over what is neither. */
const HIDE_AFTER_MS = 180;

export interface Hovering {
  readonly shown: boolean;
  show(): void;
  hide(): void;
  /** For an element that holds both what is looked at and what is shown of it. */
  readonly props: {
    onPointerEnter(event: PointerEvent): void;
    onPointerLeave(event: PointerEvent): void;
    onFocus(event: FocusEvent): void;
    onBlur(event: FocusEvent): void;
  };
}

export function useHovering(): Hovering {
  const [shown, setShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );
  // Wherever the focus is: what had it may be gone with what it did.
  useEffect(() => {
    if (!shown) {
      return undefined;
    }
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        setShown(false);
      }
    };
    document.addEventListener("keydown", press, { capture: true });
    return () => {
      document.removeEventListener("keydown", press, { capture: true });
    };
  }, [shown]);
  const soon = (show: boolean, afterMs: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(show), afterMs);
  };
  const now = (show: boolean) => {
    clearTimeout(timer.current);
    setShown(show);
  };
  return {
    shown,
    show: () => now(true),
    hide: () => now(false),
    props: {
      onPointerEnter: (event) => {
        if (event.pointerType === "mouse") {
          soon(true, SHOW_AFTER_MS);
        }
      },
      onPointerLeave: (event) => {
        if (event.pointerType === "mouse" && !event.currentTarget.contains(document.activeElement)) {
          soon(false, HIDE_AFTER_MS);
        } else if (!shown) {
          clearTimeout(timer.current);
        }
      },
      onFocus: (event) => {
        if (event.target.matches(":focus-visible")) {
          soon(true, SHOW_AFTER_MS);
        }
      },
      onBlur: (event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          soon(false, HIDE_AFTER_MS);
        }
      },
    },
  };
}
