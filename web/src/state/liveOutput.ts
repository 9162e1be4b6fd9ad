// What a running command has printed, folded from the frames that bring it.
//
// Invariant: only the end is kept, so that a command which prints for hours costs no more than one screen. Whatever was not
// seen, or seen and let go, is said to be missing; the stored output has all of it.
import type { FrameOf, OutputId } from "../wire/names";

/** So much is kept, in characters; about the lines that a reader could still scroll back to. */
const MOST_CHARACTERS = 64_000;

/** What a command has printed so far, while it runs; laid over its turn, and replaced by what is stored. */
export interface LiveOutputItem {
  readonly type: "live_output";
  readonly id: OutputId;
  readonly command: string;
  /** The end of it. */
  readonly text: string;
  /** Something came before that is not here. */
  readonly missing: boolean;
}

export interface PreviewedOutput {
  readonly of: "output";
  readonly item: LiveOutputItem;
  /** Where the last piece began, in bytes; null before the first that says something. */
  readonly last: number | null;
  /** Up to which byte it has been seen, or a little further: bytes that are no text come as longer signs. */
  readonly seen: number;
}

export function outputKey(id: OutputId): string {
  return `output ${id}`;
}

export function addPrinted(before: PreviewedOutput | null, { output: id, command, offset, text }: FrameOf<"output_preview">): PreviewedOutput {
  // Each piece comes once on a connection, in order; what is told again was shown already.
  if (before !== null && (text === "" || (before.last !== null && offset <= before.last))) {
    return before;
  }
  const seen = before?.seen ?? 0;
  const isGap = offset > seen;
  const [kept, isCut] = endOf(isGap ? text : (before?.item.text ?? "") + text);
  const item: LiveOutputItem = { type: "live_output", id, command, text: kept, missing: before?.item.missing === true || isGap || isCut };
  return { of: "output", item, last: text === "" ? null : offset, seen: offset + new TextEncoder().encode(text).length };
}

/** From the start of a line on, where there is one. */
function endOf(text: string): [kept: string, isCut: boolean] {
  if (text.length <= MOST_CHARACTERS) {
    return [text, false];
  }
  const from = text.length - MOST_CHARACTERS / 2;
  const line = text.indexOf("\n", from);
  return [text.slice(line < 0 ? from : line + 1), true];
}
