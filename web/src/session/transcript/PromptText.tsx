// The person's words. A short prompt stands as it was written; a long one is Markdown, as people write and paste it, of which
// the beginning is shown.
//
// Invariant: every line of it can be reached, and what is looked for in it is drawn.
import { memo, use, useMemo, useState } from "react";

import { shown } from "../../ui/shown";
import type { Extent } from "../../ui/chunks";
import { beginningOf, extentWords } from "../../ui/chunks";
import { FoundContext } from "../find/found";
import { placesOf, wordsOf } from "../find/words";
import { Markdown } from "../items/Markdown";
import "./PromptText.css";

/** So much is a short prompt. */
const SHORT: Extent = { characters: 400, lines: 6 };
/** So much is shown of one that is folded, and what is little longer is shown whole, so that a button for the rest pays. */
const BEGINNING: Extent = { characters: 900, lines: 10 };
const UNFOLDED: Extent = { characters: 1_400, lines: 16 };

interface PromptTextProps {
  text: string;
  /** Its turn, whose name is the heading of a long prompt; null while it has none. */
  turn: number | null;
}

export const PromptText = memo(function PromptText({ text, turn }: PromptTextProps) {
  const [all, setAll] = useState(false);
  const found = use(FoundContext);
  const { short, beginning } = useMemo(
    () => ({
      short: fits(text, SHORT),
      beginning: fits(text, UNFOLDED) ? text : beginningOf(text, BEGINNING),
    }),
    [text],
  );
  if (short) {
    return turn === null ? <p className="verbatim leading-[1.6]">{shown(text)}</p> : <h2 className="verbatim min-w-0 flex-1 leading-[1.6] font-semibold">{shown(text)}</h2>;
  }
  const holds = (some: string) => found !== null && found.turn === turn && placesOf(some, wordsOf(found.query, found.exact), found.exact).length > 0;
  const open = all || (holds(text) && !holds(beginning));
  const folded = beginning.length < text.length && !open;
  return (
    <div className="prompt-text min-w-0 flex-1">
      {turn !== null && <h2 className="sr-only">Prompt of turn {turn}</h2>}
      <div className={folded ? "prompt-text-folded" : undefined}>
        <Markdown text={folded ? beginning : text} growing={folded} turn={turn ?? undefined} />
      </div>
      {beginning.length < text.length && (
        <button type="button" className="small-button mt-1" aria-expanded={open} onClick={() => setAll(!open)}>
          {open ? "Show less" : `Show all ${extentWords(text)}`}
        </button>
      )}
    </div>
  );
});

function fits(text: string, extent: Extent): boolean {
  return beginningOf(text, extent).length === text.length;
}
