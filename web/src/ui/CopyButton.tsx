// Copies words as they are, and says so for a moment.
import { useEffect, useState } from "react";

import { IconButton } from "./Button";
import type { IconName } from "./Icon";
import { Icon } from "./Icon";

const SAID_MS = 1_600;
const BY_HAND = "Select and copy by hand";

/** Words, or how to get them. */
export type Copied = string | (() => Promise<string>);

interface CopyProps {
  text: Copied;
  what: string;
}

export function CopyButton({ text, what }: CopyProps) {
  const { state, copy } = useCopy(text);
  return (
    <button type="button" className="small-button" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      <span aria-live="polite">{state === "ready" ? "Copy" : state === "copied" ? "Copied" : BY_HAND}</span>
    </button>
  );
}

/** The same, as a sign where words would be too loud. */
export function CopyIconButton({ text, what, icon = "copy", className = "" }: CopyProps & { icon?: IconName; className?: string }) {
  const { state, copy } = useCopy(text);
  return (
    <>
      <IconButton label={`Copy ${what}`} className={className} onClick={() => void copy()}>
        <Icon name={state === "copied" ? "check" : icon} />
      </IconButton>
      <span aria-live="polite" className={state === "failed" ? "self-center text-xs text-soft" : "sr-only"}>
        {state === "copied" ? "Copied" : state === "failed" ? BY_HAND : ""}
      </span>
    </>
  );
}

/** The same, as a line of a menu. */
export function CopyRow({ text, words, icon }: { text: Copied; words: string; icon: IconName }) {
  const { state, copy } = useCopy(text);
  return (
    <button
      type="button"
      className="flex min-h-11 w-full items-center gap-3 rounded-lg px-2.5 text-left text-[0.9375rem] hover:bg-press"
      onClick={() => void copy()}
    >
      <Icon name={state === "copied" ? "check" : icon} />
      <span aria-live="polite">{state === "ready" ? words : state === "copied" ? "Copied" : BY_HAND}</span>
    </button>
  );
}

function useCopy(text: Copied): { state: "ready" | "copied" | "failed"; copy(): Promise<void> } {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready");
  useEffect(() => {
    if (state === "ready") {
      return undefined;
    }
    const timer = setTimeout(() => setState("ready"), SAID_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setState("copied");
    } catch {
      // Without a secure connection, or without leave, the browser has no clipboard to write to; or the words did not come.
      setState("failed");
    }
  };
  return { state, copy };
}
