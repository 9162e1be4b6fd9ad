// Something that the agent showed, as an item of a turn; and turns in which such an item says that it is not kept any more.
import type { Output, OutputRemoval } from "../wire/names";
import type { Item, TranscriptTurn } from "./transcript";

export interface OutputItem {
  readonly type: "output";
  readonly output: Readonly<Output>;
  /** It is not kept any more, for this reason. */
  readonly removed?: OutputRemoval;
}

/** The turns, where the card of an output says that it was removed; null if none of them has it. */
export function withoutOutputInAny(turns: readonly TranscriptTurn[], id: string, reason: OutputRemoval): TranscriptTurn[] | null {
  const isIt = (item: Item): item is OutputItem => item.type === "output" && item.output.id === id;
  if (!turns.some(({ items }) => items.some(isIt))) {
    return null;
  }
  const marked = (items: readonly Item[]) => items.map((item) => (isIt(item) ? { ...item, removed: reason } : item));
  return turns.map((turn) => (turn.items.some(isIt) ? { ...turn, items: marked(turn.items) } : turn));
}
