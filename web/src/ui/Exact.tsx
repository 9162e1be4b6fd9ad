// Words to decide by: every character of them is seen, and they stand in the order in which they were written.
import { useMemo } from "react";

import { Chunks } from "./LongText";
import { shownExactly } from "./shown";
import "./Exact.css";

/** Longer text, or one with more hidden characters, is drawn in pieces, without a colour for what was hidden. */
const MOST_CHARACTERS = 16_000;
const MOST_PIECES = 1_000;

export function Exact({ text }: { text: string }) {
  const pieces = useMemo(() => shownExactly(text), [text]);
  if (text.length > MOST_CHARACTERS || pieces.length > MOST_PIECES) {
    return <Chunks text={pieces.join("")} show={asItIs} />;
  }
  return pieces.map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <span key={index} className="hidden-character" title="A character that cannot be seen">
        {piece}
      </span>
    ),
  );
}

function asItIs(text: string): string {
  return text;
}
