// A dialog near the top of the page that one types into; the whole screen on a phone. A press beside it closes it.
import type { MouseEvent, ReactNode } from "react";
import { useRef } from "react";

import { useModal } from "./modal";

interface PaletteProps {
  label: string;
  /** How wide it is where there is room. */
  className: string;
  onClose(): void;
  children: ReactNode;
}

export function Palette({ label, className, onClose, children }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useModal(dialog);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      className={`max-h-none w-screen max-w-none overflow-hidden border-rule bg-paper p-0 shadow-sheet max-md:m-0 max-md:h-dvh md:mt-[10dvh] md:mb-auto md:rounded-2xl md:border ${className}`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event: MouseEvent) => {
        if (event.target === event.currentTarget) {
          onClose();
        }
      }}
    >
      {children}
    </dialog>
  );
}
