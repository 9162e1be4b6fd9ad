// Text of any length, as it was written: all of it where it is short, else its beginning and a way to the rest.
import type { ReactNode } from "react";
import { memo, useMemo, useState } from "react";

import type { Extent } from "./chunks";
import { beginningOf, chunksOf, extentWords } from "./chunks";
import { shown } from "./shown";
import "./LongText.css";

/** So much is shown without being asked for. */
const MOST: Extent = { characters: 8_000, lines: 160 };
/** What is longer shows so much, so that a button for the rest pays. */
const BEGINNING: Extent = { characters: 4_000, lines: 40 };

interface LongTextProps {
  text: string;
  /** What it is, for those who do not see it. */
  label: string;
  /** The region that all of it is read in. */
  className?: string;
  /** Draws what is shown at first, with its hidden characters named. */
  children(text: string): ReactNode;
}

export const LongText = memo(function LongText({ text, label, className = "", children }: LongTextProps) {
  const [all, setAll] = useState(false);
  const long = useMemo(() => beginningOf(text, MOST).length < text.length, [text]);
  if (!long) {
    return children(shown(text));
  }
  return (
    <div className="min-w-0 flex-1">
      {all ? (
        <div className={`verbatim max-h-[70vh] overflow-auto ${className}`} tabIndex={0} role="region" aria-label={label} dir="auto">
          <Chunks text={text} show={shown} />
        </div>
      ) : (
        children(`${shown(beginningOf(text, BEGINNING))}…`)
      )}
      <div>
        <button type="button" className="small-button" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show less" : `Show all ${extentWords(text)}`}
        </button>
      </div>
    </div>
  );
});

/** All of a text; what is out of sight is not laid out. */
export const Chunks = memo(function Chunks({ text, show }: { text: string; show(text: string): string }) {
  return chunksOf(text).map((chunk, index) => (
    <span key={index} className="output-chunk">
      {show(chunk)}
    </span>
  ));
});
