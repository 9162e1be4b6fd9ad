// One line that opens. What is inside is not there until it has been asked for.
import type { ReactNode } from "react";
import { useId, useState } from "react";
import "./Fold.css";

interface FoldProps {
  /** The line. */
  line: ReactNode;
  children(): ReactNode;
  open?: boolean;
  /** What asks for something inside, each time another: it opens then, and the reader may close it again. */
  asked?: object | null;
  className?: string;
}

export function Fold({ line, children, open: openAtFirst = false, asked = null, className = "" }: FoldProps) {
  const [open, setOpen] = useState(openAtFirst || asked !== null);
  const [heard, setHeard] = useState(asked);
  if (asked !== heard) {
    setHeard(asked);
    setOpen(open || asked !== null);
  }
  const id = useId();
  return (
    <div className={className}>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        className="fold-line"
        onClick={() => setOpen(!open)}
      >
        <span className="flex min-w-0 flex-1 items-baseline gap-2">{line}</span>
        <Chevron open={open} />
      </button>
      {open && <div id={id}>{children()}</div>}
    </div>
  );
}

export function Chevron({ open }: { open: boolean }) {
  return (
    <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" className={`shrink-0 self-center text-edge ${open ? "rotate-90" : ""}`}>
      <path d="M4.5 2.5 8 6l-3.5 3.5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
