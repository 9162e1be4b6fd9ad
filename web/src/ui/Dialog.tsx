// A modal dialog with a title. Escape, its button and a press beside it close it.
import type { ReactNode } from "react";
import { useId, useRef } from "react";

import { IconButton } from "./Button";
import { Icon } from "./Icon";
import { useModal } from "./modal";

interface DialogProps {
  title: string;
  onClose(): void;
  /** As wide as the page lets it be. */
  wide?: boolean;
  /** At the side of the page; on a phone, a sheet from below. */
  side?: boolean;
  children: ReactNode;
}

const SIDE =
  "max-md:mb-0 max-md:max-h-[88dvh] max-md:w-screen max-md:max-w-none max-md:rounded-t-2xl max-md:border-t md:my-0 md:mr-0 md:h-dvh md:max-h-dvh md:w-112 md:border-l scroll-pt-30";

/** Open for as long as it is rendered. */
export function Dialog({ title, onClose, wide = false, side = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useModal(element);

  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      className={`${side ? SIDE : wide ? "w-fit max-w-[calc(100vw-1.5rem)] min-w-[min(24rem,calc(100vw-1.5rem))]" : "w-[min(30rem,calc(100vw-1.5rem))]"} ${side ? "" : "max-h-[calc(100dvh-1.5rem)] rounded-2xl border"} overflow-auto overscroll-contain border-rule bg-paper p-0 shadow-sheet`}
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
      <div className={`px-5 pb-5 md:px-6 md:pb-6 ${side ? "safe-bottom" : "pt-5 md:pt-6"}`}>
        <header className={`-mr-2 mb-4 flex ${side ? "sticky top-0 z-10 bg-paper pt-4 pb-1" : "-mt-1"} items-center justify-between gap-4`}>
          <h2 id={titleId} className="min-w-0 text-xl font-semibold tracking-tight wrap-anywhere">
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
