// Words to decide by: every character of them is seen, and they stand in the order in which they were written.
import { shownExactly } from "./shown";

export function Exact({ text }: { text: string }) {
  return shownExactly(text).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <span key={index} className="hidden-character" title="A character that cannot be seen">
        {piece}
      </span>
    ),
  );
}
