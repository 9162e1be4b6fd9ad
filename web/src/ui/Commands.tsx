// A sentence in which commands stand between backticks. A command of several words has a line of its own and can be copied: a box
// in the middle of a sentence breaks its lines. A single word is only told apart.
import { useEffect, useState } from "react";

import { Icon } from "./Icon";
import { inOneLine } from "./shown";

const STOP = /^[.,;:]\s*/;
const SAID_MS = 1_600;

export function Commands({ sentence }: { sentence: string }) {
  const pieces = sentence.split("`");
  return pieces.map((piece, index) => {
    if (index % 2 === 0) {
      // The end of the command's line stands for the stop after it.
      return <span key={index}>{spaced(index > 0 && isLine(pieces[index - 1] ?? "") ? piece.replace(STOP, " ") : piece)}</span>;
    }
    return isLine(piece) ? (
      <span key={index} className="my-1 flex max-w-full">
        <Command text={inOneLine(piece)} />
      </span>
    ) : (
      <code key={index} className="text-[0.9375em] wrap-anywhere text-ink select-all">
        {inOneLine(piece)}
      </code>
    );
  });
}

function isLine(command: string): boolean {
  return /\S\s+\S/.test(command);
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
