// A modal dialog. The browser's own element keeps the focus inside, gives it back, and closes on Escape.
import type { ReactNode } from "react";
import { useEffect, useId, useRef } from "react";

import { IconButton } from "./Button";
import { Icon } from "./Icon";

interface DialogProps {
  title: string;
  onClose(): void;
  /** As wide as the page lets it be. */
  wide?: boolean;
  children: ReactNode;
}

/** Open for as long as it is rendered. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Otherwise the first thing that can have the focus gets it, which is the button that closes.
    dialog?.querySelector<HTMLElement>("[data-first-focus]")?.focus();
    return () => {
      dialog?.close();
    };
  }, []);

  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      className={`${wide ? "w-fit max-w-[calc(100vw-1.5rem)]" : "w-[min(30rem,calc(100vw-1.5rem))]"} max-h-[calc(100dvh-1.5rem)] overflow-auto rounded-2xl border border-rule bg-paper p-0 shadow-sheet`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        // The element's own box is covered by its content; what is left of it is the backdrop.
        if (event.target === event.currentTarget) {
          onClose();
        }
      }}
    >
      <div className="p-5 md:p-6">
        <header className="-mt-1 -mr-2 mb-4 flex items-center justify-between gap-4">
          <h2 id={titleId} className="text-xl font-semibold tracking-tight">
            {title}
          </h2>
          <IconButton label="Close" onClick={onClose}>
            <Icon name="close" />
          </IconButton>
        </header>
        {children}
      </div>
    </dialog>
  );
}
