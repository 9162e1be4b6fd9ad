// Copies words as they are, and says so for a moment.
import { useEffect, useState } from "react";

const SAID_MS = 1_600;

export function CopyButton({ text, what }: { text: string; what: string }) {
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
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      // Without a secure connection, or without leave, the browser has no clipboard to write to.
      setState("failed");
    }
  };
  return (
    <button type="button" className="small-button" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      <span aria-live="polite">{state === "ready" ? "Copy" : state === "copied" ? "Copied" : "Select and copy by hand"}</span>
    </button>
  );
}
