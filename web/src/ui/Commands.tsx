// A sentence in which commands stand between backticks. Each command can be copied.
import { useEffect, useState } from "react";

import { Icon } from "./Icon";
import { inOneLine } from "./shown";

const STOP = /^[.,;:]/;
const SAID_MS = 1_600;

export function Commands({ sentence }: { sentence: string }) {
  const pieces = sentence.split("`");
  return pieces.map((piece, index) =>
    index % 2 === 0 ? (
      <span key={index}>{spaced(index === 0 ? piece : piece.replace(STOP, ""))}</span>
    ) : (
      // A full stop does not go to the next line alone.
      <span key={index} className="inline-flex max-w-full items-center align-middle">
        <Command text={inOneLine(piece)} />
        {STOP.exec(pieces[index + 1] ?? "")?.[0]}
      </span>
    ),
  );
}

/** Hidden characters are named; the spaces at both ends stay. */
function spaced(piece: string): string {
  return (/^\s/.test(piece) ? " " : "") + inOneLine(piece) + (/\s$/.test(piece) ? " " : "");
}

/** A command by itself, to be copied. */
export function Command({ text }: { text: string }) {
  const [said, setSaid] = useState<"nothing" | "copied" | "failed">("nothing");
  useEffect(() => {
    if (said === "nothing") {
      return undefined;
    }
    const timer = setTimeout(() => setSaid("nothing"), SAID_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("copied");
    } catch {
      // Without a secure connection the browser has no clipboard to write to.
      setSaid("failed");
    }
  };
  return (
    <span className="inline-flex min-w-0 items-center rounded-md border border-rule bg-shade">
      <code className="min-w-0 py-0.5 pl-2 text-[0.8125rem] wrap-anywhere text-ink select-all">{text}</code>
      <button
        type="button"
        aria-label={`Copy ${text}`}
        title={said === "failed" ? "Select it and copy by hand" : "Copy"}
        className="inline-flex h-8 min-w-8 shrink-0 items-center justify-center rounded-md px-1.5 text-xs text-soft hover:text-ink [&>svg]:size-4"
        onClick={() => void copy()}
      >
        <span aria-live="polite">{said === "copied" ? "Copied" : said === "failed" ? "Copy by hand" : ""}</span>
        {said === "nothing" && <Icon name="copy" />}
      </button>
    </span>
  );
}
