// What a tool printed. The end comes first, as the end is what people look for; all of it is one press away.
//
// Invariant: a megabyte costs no more than its last lines until somebody asks for the rest.
import { useMemo, useState } from "react";

import { printed } from "../../ui/shown";

const TAIL_LINES = 8;
const TAIL_CHARACTERS = 4_000;
const CHUNK_CHARACTERS = 16_000;

interface OutputProps {
  text: string;
  label: string;
  /** The beginning matters more than the end, as in a file. */
  head?: boolean;
}

export function Output({ text, label, head = false }: OutputProps) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => countLines(text), [text]);
  const part = head ? headOf(text) : tailOf(text);
  const whole = part.length === trimEnd(text).length;
  const more = !whole && (
    <button type="button" className="small-button" onClick={() => setAll(!all)} aria-expanded={all}>
      {all ? "Show less" : lines > 1 ? `Show all ${lines.toLocaleString("en")} lines` : `Show all ${text.length.toLocaleString("en")} characters`}
    </button>
  );
  return (
    <div>
      {!head && more && <div className="output-more">{more}</div>}
      {all ? (
        <pre ref={head ? undefined : toTheEnd} className="output max-h-[70vh] overflow-auto" tabIndex={0} role="region" aria-label={label} dir="ltr">
          {chunksOf(text).map((chunk, index) => (
            <span key={index} className="output-chunk">
              {printed(chunk)}
            </span>
          ))}
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

export function countLines(text: string): number {
  const end = trimEnd(text).length;
  if (end === 0) {
    return 0;
  }
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    count++;
  }
  return count;
}

/** The last lines, without looking at those before them. */
export function tailOf(text: string): string {
  const trimmed = trimEnd(text);
  let start = trimmed.length;
  for (let line = 0; line < TAIL_LINES && start > 0; line++) {
    start = trimmed.lastIndexOf("\n", start - 1);
  }
  return trimmed.slice(Math.max(start + (start > 0 || trimmed.startsWith("\n") ? 1 : 0), trimmed.length - TAIL_CHARACTERS, 0));
}

function headOf(text: string): string {
  const trimmed = trimEnd(text);
  let end = -1;
  for (let line = 0; line < TAIL_LINES * 2; line++) {
    end = trimmed.indexOf("\n", end + 1);
    if (end < 0) {
      return trimmed.slice(0, TAIL_CHARACTERS);
    }
  }
  return trimmed.slice(0, Math.min(end, TAIL_CHARACTERS));
}

/** Pieces that end at a line's end where there is one, so that those out of sight need not be laid out. */
function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length; ) {
    const wanted = from + CHUNK_CHARACTERS;
    const end = wanted >= text.length ? text.length : text.lastIndexOf("\n", wanted);
    const to = end > from ? end : Math.min(wanted, text.length);
    // The chunk is a block of its own, which ends the line.
    chunks.push(text.slice(from, to));
    from = text[to] === "\n" ? to + 1 : to;
  }
  return chunks;
}

function trimEnd(text: string): string {
  return text.replace(/[\r\n]+$/, "");
}
