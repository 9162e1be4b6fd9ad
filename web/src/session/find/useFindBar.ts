// The search in one session: whether its bar is open, and what it has found.
import type { RefObject } from "react";
import { useRef, useState } from "react";

import { ACTIONS } from "../../app/actions";
import { useChord } from "../../ui/keyPresses";
import type { FoundWords } from "./found";

export interface FindBarState {
  readonly isOpen: boolean;
  readonly found: FoundWords | null;
  readonly field: RefObject<HTMLInputElement | null>;
  setFound(found: FoundWords | null): void;
  open(): void;
  /** The transcript, which stands in the column, takes the focus. */
  close(): void;
}

export function useFindBar(column: RefObject<HTMLDivElement | null>, isEmpty: boolean): FindBarState {
  const [isOpen, setOpen] = useState(false);
  const [found, setFound] = useState<FoundWords | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const open = () => {
    setOpen(true);
    field.current?.focus();
    field.current?.select();
  };
  const close = () => {
    setOpen(false);
    column.current?.querySelector<HTMLElement>("[role=log]")?.focus({ preventScroll: true });
  };
  useChord(ACTIONS.find.chord, (event) => {
    // The second press is for the browser's own search; so is any while something lies over the page.
    if (document.activeElement === field.current || isEmpty || document.querySelector("dialog[open]") !== null) {
      return;
    }
    event.preventDefault();
    open();
  });
  return { isOpen, found, field, setFound, open, close };
}
