// Long text, cut so that drawing it costs no more than what is in sight. What the browser lays out takes time with every
// line and every letter, so nothing as long as its writer pleases is handed to it at once.
//
// Invariant: the pieces put together are the text, but for the line ends between them. All of this is one pass.

/** A chunk is laid out at once, when it comes into view. */
const CHUNK_CHARACTERS = 16_000;
const CHUNK_LINES = 400;

export interface Extent {
  readonly characters: number;
  readonly lines: number;
}

/** Pieces that end at a line's end where there is one, so that those out of sight need not be laid out. */
export function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = endOfBeginning(text, from, { characters: CHUNK_CHARACTERS, lines: CHUNK_LINES });
    // The chunk is a block of its own, which ends the line.
    chunks.push(text.slice(from, to));
    from = text[to] === "\n" ? to + 1 : to;
  }
  return chunks;
}

export function beginningOf(text: string, extent: Extent): string {
  return text.slice(0, endOfBeginning(text, 0, extent));
}

/** Where so much of the text from there on ends: at a line's end, or within a line that is too long by itself. */
function endOfBeginning(text: string, from: number, { characters, lines }: Extent): number {
  const most = from + characters;
  let end = from;
  for (let line = 0; line < lines; line++) {
    const newline = text.indexOf("\n", line === 0 ? from : end + 1);
    if (newline < 0 || newline > most) {
      return text.length <= most && newline < 0 ? text.length : line === 0 ? betweenLetters(text, most) : end;
    }
    end = newline;
  }
  return end;
}

/** Not within a letter of two units. */
function betweenLetters(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before < 0xdc00 ? at - 1 : at;
}

/** How many lines it has, without empty ones at its end. */
export function countLines(text: string): number {
  const end = lengthWithoutLineEnds(text);
  if (end === 0) {
    return 0;
  }
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    count++;
  }
  return count;
}

/** Without the line ends that it ends with. */
export function withoutLineEnds(text: string): string {
  return text.slice(0, lengthWithoutLineEnds(text));
}

/** Counted from the end: a pattern would try anew from every line end within the text. */
function lengthWithoutLineEnds(text: string): number {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === "\r")) {
    end--;
  }
  return end;
}

/** As in “Show all 12,000 lines”. */
export function extentWords(text: string): string {
  const lines = countLines(text);
  return lines > 1 ? `${lines.toLocaleString("en")} lines` : `${text.length.toLocaleString("en")} characters`;
}
