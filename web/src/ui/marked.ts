// Ranges of a text as the server counts them, in characters, for a language that counts UTF-16 units.

export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** The text cut at the ranges' ends. Ranges that overlap, are empty or lie outside do no harm. */
export function markedPieces(text: string, ranges: readonly (readonly number[])[]): Piece[] {
  const characters = [...text];
  const wanted = ranges
    .map(([from = 0, to = 0]) => [Math.max(from, 0), Math.min(to, characters.length)] as const)
    .filter(([from, to]) => from < to)
    .toSorted(([a], [b]) => a - b);
  const pieces: Piece[] = [];
  let at = 0;
  const push = (to: number, marked: boolean) => {
    if (to > at) {
      pieces.push({ text: characters.slice(at, to).join(""), marked });
      at = to;
    }
  };
  for (const [from, to] of wanted) {
    push(from, false);
    push(to, true);
  }
  push(characters.length, false);
  return pieces;
}
