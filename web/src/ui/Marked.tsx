// Words with those that were looked for marked.
import { markedPieces } from "./marked";
import { shown } from "./shown";

export function Marked({ text, ranges }: { text: string; ranges: readonly (readonly number[])[] }) {
  return markedPieces(text, ranges).map((piece, index) =>
    piece.marked ? (
      <mark key={index} className="rounded-xs bg-found text-ink">
        {shown(piece.text)}
      </mark>
    ) : (
      <span key={index}>{shown(piece.text)}</span>
    ),
  );
}
