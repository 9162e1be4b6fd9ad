// A small sheet that a button opens beside itself. Escape, a press elsewhere and leaving it close it.
import type { ReactNode } from "react";
import { useEffect, useId, useRef, useState } from "react";

interface PopupProps {
  /** What the sheet is, for those who do not see it. */
  label: string;
  button(props: { "aria-expanded": boolean; "aria-controls": string | undefined; onClick(): void }): ReactNode;
  /** Where the sheet lies. */
  sheetClass: string;
  className?: string;
  children(close: () => void): ReactNode;
}

const FOCUSABLE = "button:not(:disabled), select:not(:disabled), input:not(:disabled), a[href]";

export function Popup({ label, button, sheetClass, className = "", children }: PopupProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const close = () => setOpen(false);
  useEffect(() => {
    if (!open) {
      return undefined;
    }
    (sheet.current?.querySelector<HTMLElement>(FOCUSABLE) ?? sheet.current)?.focus();
    const press = (event: PointerEvent) => {
      if (!(event.target instanceof Node && element.current?.contains(event.target))) {
        setOpen(false);
      }
    };
    document.addEventListener("pointerdown", press);
    const opener = element.current?.querySelector("button");
    return () => {
      document.removeEventListener("pointerdown", press);
      // What had the focus is gone.
      if (document.activeElement === document.body) {
        opener?.focus();
      }
    };
  }, [open]);
  return (
    <div
      ref={element}
      className={className}
      onKeyDown={(event) => {
        if (!open) {
          return;
        }
        if (event.key === "Escape") {
          event.stopPropagation();
          close();
        } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
          moveFocus(sheet.current, event.key === "ArrowDown" ? 1 : -1, event);
        }
      }}
      onBlur={(event) => {
        if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
    >
      {button({ "aria-expanded": open, "aria-controls": open ? id : undefined, onClick: () => setOpen(!open) })}
      {open && (
        <div
          ref={sheet}
          id={id}
          role="group"
          aria-label={label}
          tabIndex={-1}
          className={`absolute z-20 max-h-[60dvh] overflow-y-auto overscroll-contain rounded-xl border border-rule bg-paper p-1.5 shadow-sheet outline-none ${sheetClass}`}
        >
          {children(close)}
        </div>
      )}
    </div>
  );
}

/** Arrows go from button to button; in a list to choose from they choose. */
function moveFocus(sheet: HTMLElement | null, step: 1 | -1, event: { target: EventTarget; preventDefault(): void }): void {
  if (event.target instanceof HTMLSelectElement) {
    return;
  }
  event.preventDefault();
  const stops = [...(sheet?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  stops[(at + step + stops.length) % stops.length]?.focus();
}
