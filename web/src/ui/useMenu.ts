// A menu in a sheet beside its button: which of its views is shown, and the ways to open and to close it.
import type { KeyboardEvent } from "react";
import { useId, useState } from "react";

export interface Menu<View extends string> {
  /** Null while it is closed. */
  readonly view: View | null;
  readonly id: string;
  show(view: View): void;
  close(): void;
  /** Closes it, and does this. */
  then(action: () => void): () => void;
  /** Of the element around the button and the sheet. */
  readonly around: { onKeyDown(event: KeyboardEvent): void };
  /** Of the button. */
  readonly button: { readonly "aria-expanded": boolean; readonly "aria-controls": string | undefined; onClick(): void };
}

/** `first` is the view that its button opens. */
export function useMenu<View extends string>(first: View): Menu<View> {
  const [view, show] = useState<View | null>(null);
  const id = useId();
  const close = () => show(null);
  return {
    view,
    id,
    show,
    close,
    then: (action) => () => {
      close();
      action();
    },
    around: {
      onKeyDown(event) {
        if (event.key === "Escape" && view !== null) {
          event.stopPropagation();
          close();
        }
      },
    },
    button: {
      "aria-expanded": view !== null,
      "aria-controls": view === null ? undefined : id,
      onClick: () => show(view === null ? first : null),
    },
  };
}

/** For a view that another one led to: the line that was pressed is gone, and the focus with it. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
}
