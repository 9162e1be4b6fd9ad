// A dialog that is open for as long as it is rendered; the browser's own element keeps the focus inside and gives it back.
import type { RefObject } from "react";
import { useLayoutEffect } from "react";

export function useModal(element: RefObject<HTMLDialogElement | null>): void {
  // Closed while it is still part of the page: an element that is gone gives no focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Otherwise the first thing that can have the focus gets it, which is the button that closes.
    dialog?.querySelector<HTMLElement>("[data-first-focus]")?.focus();
    return () => {
      dialog?.close();
    };
  }, [element]);
}
