// A line above an applet's frame, in the page's own words.
import type { ReactNode } from "react";
import { useRef } from "react";

import { useFocusKept } from "./useFocusKept";

export function AppletLine({ children, onDismiss }: { children: ReactNode; onDismiss?: () => void }) {
  const line = useRef<HTMLDivElement>(null);
  useFocusKept(line);
  return (
    <div ref={line} role="status" className="flex items-center gap-3 border-b border-rule ground-shade px-4 py-1.5 text-[0.8125rem] text-soft">
      <p className="min-w-0 flex-1 wrap-anywhere">{children}</p>
      {onDismiss !== undefined && (
        <button type="button" className="small-button" onClick={onDismiss}>
          Hide
        </button>
      )}
    </div>
  );
}
