// A short hint where something is first met. Dismissed once, it never comes back in this browser.
import type { ReactNode } from "react";
import { useSyncExternalStore } from "react";

import { Icon } from "./Icon";

const KEY = "throughline.hints";
const CHANGED = "throughline:hints";

export function Hint({ id, className = "", children }: { id: string; className?: string; children: ReactNode }) {
  const dismissed = useSyncExternalStore(subscribe, () => dismissedHints().includes(id));
  if (dismissed) {
    return null;
  }
  return (
    <p className={`flex items-start gap-1 rounded-lg border border-dashed border-rule py-1 pl-3 text-[0.8125rem] leading-snug text-soft ${className}`}>
      <span className="min-w-0 flex-1 py-1.5">{children}</span>
      <button type="button" aria-label="Dismiss this hint" title="Dismiss this hint" className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg hover:text-ink pointer-coarse:size-11 [&>svg]:size-4" onClick={() => dismiss(id)}>
        <Icon name="close" />
      </button>
    </p>
  );
}

/** Their ids, with a space between. */
function dismissedHints(): string[] {
  return (localStorage.getItem(KEY) ?? "").split(" ");
}

function dismiss(id: string): void {
  localStorage.setItem(KEY, [...new Set([...dismissedHints(), id])].join(" ").trim());
  dispatchEvent(new Event(CHANGED));
}

function subscribe(onChange: () => void): () => void {
  addEventListener(CHANGED, onChange);
  addEventListener("storage", onChange);
  return () => {
    removeEventListener(CHANGED, onChange);
    removeEventListener("storage", onChange);
  };
}
