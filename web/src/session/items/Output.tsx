// What a tool printed. The end comes first, as the end is what people look for; all of it is one press away.
//
// Invariant: a megabyte costs no more than its last lines until somebody asks for the rest.
import { useMemo, useState } from "react";

import { Chunks } from "../../ui/LongText";
import { beginningOf, extentWords, withoutLineEnds } from "../../ui/chunks";
import { printed } from "../../ui/shown";
import "./exactText.css";

const TAIL_LINES = 8;
const TAIL_CHARACTERS = 4_000;

/** By a button of its own; or it is a beginning, which something else unfolds; or all of it was asked for there. */
export type Folding = "own" | "beginning" | "unfolded";

interface OutputProps {
  text: string;
  label: string;
  /** The beginning matters more than the end, as in a file. */
  head?: boolean;
  folding?: Folding;
}

export function Output({ text, label, head: isHead = false, folding = "own" }: OutputProps) {
  // Null until somebody says.
  const [wanted, setWanted] = useState<boolean | null>(null);
  // Of a beginning the end is not there to be shown, and whoever read it goes on from it.
  const head = isHead || folding !== "own";
  const extent = useMemo(() => extentWords(text), [text]);
  const part = head ? headOf(text) : tailOf(text);
  const whole = part.length === withoutLineEnds(text).length;
  const all = !whole && (wanted ?? folding === "unfolded");
  const more = !whole && folding !== "beginning" && (
    <button type="button" className="small-button" onClick={() => setWanted(!all)} aria-expanded={all}>
      {all ? "Show less" : `Show all ${extent}`}
    </button>
  );
  return (
    <div>
      {!head && more && <div className="output-more">{more}</div>}
      {all ? (
        <pre ref={head ? undefined : toTheEnd} className="output max-h-[70vh] overflow-auto" tabIndex={0} role="region" aria-label={label} dir="ltr">
          <Chunks text={text} show={printed} />
        </pre>
      ) : (
        <pre className="output" dir="ltr">
          {!whole && !head && "…\n"}
          {printed(part)}
          {!whole && head && "\n…"}
        </pre>
      )}
      {head && more && <div className="output-more">{more}</div>}
    </div>
  );
}

/** Whoever saw the end goes on from there. */
function toTheEnd(element: HTMLElement | null): void {
  element?.scrollTo(0, element.scrollHeight);
}

/** The last lines, without looking at those before them. */
export function tailOf(text: string): string {
  const trimmed = withoutLineEnds(text);
  let start = trimmed.length;
  for (let line = 0; line < TAIL_LINES && start > 0; line++) {
    start = trimmed.lastIndexOf("\n", start - 1);
  }
  return trimmed.slice(Math.max(start + (start > 0 || trimmed.startsWith("\n") ? 1 : 0), trimmed.length - TAIL_CHARACTERS, 0));
}

function headOf(text: string): string {
  return beginningOf(withoutLineEnds(text), { characters: TAIL_CHARACTERS, lines: TAIL_LINES * 2 });
}
