// Earlier prompts of the session, to be sent again.
import type { TranscriptTurn } from "../../state/transcript";
import { isOwn } from "../../state/words";

/** The person's own prompt that is `back` before now, counted from 1; the same twice in a row counts once. */
export function promptBack(turns: readonly TranscriptTurn[], back: number): string | null {
  let last: string | null = null;
  let left = back;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (turn !== undefined && isOwn(turn) && turn.prompt.trim() !== "" && turn.prompt !== last) {
      last = turn.prompt;
      left -= 1;
      if (left === 0) {
        return last;
      }
    }
  }
  return null;
}
