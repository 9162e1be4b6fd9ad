// Copies words as they are, and says so for a moment.
import { useEffect, useState } from "react";

import { IconButton } from "./Button";
import type { IconName } from "./Icon";
import { Icon } from "./Icon";
import { MenuRow } from "./MenuRow";

const SAID_MS = 1_600;
const FAILED = { failed: "Select and copy by hand", unread: "Could not be loaded; try again" } as const;

type CopyState = "ready" | "copied" | keyof typeof FAILED;

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
      <span aria-live="polite">{state === "ready" ? "Copy" : state === "copied" ? "Copied" : FAILED[state]}</span>
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
      <span aria-live="polite" className={state === "failed" || state === "unread" ? "self-center text-xs text-soft" : "sr-only"}>
        {state === "ready" ? "" : state === "copied" ? "Copied" : FAILED[state]}
      </span>
    </>
  );
}

/** The same, as a line of a menu. */
export function CopyRow({ text, words, icon }: { text: Copied; words: string; icon: IconName }) {
  const { state, copy } = useCopy(text);
  return (
    <MenuRow icon={state === "copied" ? "check" : icon} onClick={() => void copy()}>
      <span aria-live="polite">{state === "ready" ? words : state === "copied" ? "Copied" : FAILED[state]}</span>
    </MenuRow>
  );
}

function useCopy(text: Copied): { state: CopyState; copy(): Promise<void> } {
  const [state, setState] = useState<CopyState>("ready");
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
    const words = typeof text === "string" ? text : await text().catch(() => null);
    if (words === null) {
      setState("unread");
      return;
    }
    try {
      await navigator.clipboard.writeText(words);
      setState("copied");
    } catch {
      // Without a secure connection, or without leave, the browser has no clipboard to write to.
      setState("failed");
    }
  };
  return { state, copy };
}
