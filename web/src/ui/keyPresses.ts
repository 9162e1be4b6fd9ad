// Keys that act on the whole page, whatever has the focus.
//
// Invariant: a letter typed into a field or into what keeps its keys, a single key with a modifier, and one while a dialog is open are never taken.
// Single keys can be switched off, as speech input and some keyboards press them by accident.
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";

const SETTING = "throughline.singleKeys";
const CHANGED = "throughline:singleKeys";
/** Where somebody types, or has just typed: `data-own-keys` is around what may be taken from under their hands. */
const KEEPS_KEYS = "input, textarea, select, [data-own-keys]";

/** With `first` they are asked before all others, which leave alone what was taken by `preventDefault`. */
export function useKeyPresses(actions: Record<string, (event: KeyboardEvent) => void>, { first = false } = {}): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const action = actions[event.key];
    if (action && isFree(event) && singleKeysOn()) {
      action(event);
    }
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      press(event);
    };
    window.addEventListener("keydown", listener, { capture: first });
    return () => {
      window.removeEventListener("keydown", listener, { capture: first });
    };
  }, [first]);
}

/** Ctrl or, on Apple's keyboards, Command with a letter; also while a field has the focus. */
export function useChord(key: string, action: (event: KeyboardEvent) => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const held = isApple() ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    if (held && !event.altKey && !event.shiftKey && event.key.toLowerCase() === key) {
      action(event);
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
}

/** What the key beside the space bar is called there. */
export function chordName(key: string): string {
  return isApple() ? `⌘ ${key}` : `Ctrl ${key}`;
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}

export function useSingleKeys(): [boolean, (on: boolean) => void] {
  const on = useSyncExternalStore(subscribe, singleKeysOn);
  return [on, setSingleKeys];
}

function isFree(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) {
    return false;
  }
  if (document.querySelector("dialog[open]") !== null) {
    return false;
  }
  const { target } = event;
  return !(target instanceof HTMLElement && (target.isContentEditable || target.closest(KEEPS_KEYS) !== null));
}

function singleKeysOn(): boolean {
  return localStorage.getItem(SETTING) !== "off";
}

function setSingleKeys(on: boolean): void {
  if (on) {
    localStorage.removeItem(SETTING);
  } else {
    localStorage.setItem(SETTING, "off");
  }
  window.dispatchEvent(new Event(CHANGED));
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener(CHANGED, onChange);
  return () => {
    window.removeEventListener(CHANGED, onChange);
  };
}
