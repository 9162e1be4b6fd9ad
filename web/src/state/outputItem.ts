// Something that the agent showed, as an item of a turn; and turns in which such an item says that it is not kept any more.
import type { AppletParams } from "../wire/applets";
import type { EventOf, Output, OutputRemoval } from "../wire/names";
import { changeLast } from "./changeLast";
import type { Item, TranscriptTurn } from "./transcript";

export interface OutputItem {
  readonly type: "output";
  readonly output: Readonly<Output>;
  /** It is not kept any more, for this reason. */
  readonly removed?: OutputRemoval;
  /** What is known of it, if it is an applet. */
  readonly applet?: ShownApplet;
}

export interface ShownApplet {
  /** What it is saved as; null where nobody has saved it. */
  readonly slug: string | null;
  readonly title: string;
  readonly params: AppletParams;
}

export function shownApplet({ slug, title, params }: EventOf<"applet.shown">["data"]): ShownApplet {
  return { slug: slug ?? null, title, params: params ?? {} };
}

/** The items, where the output that holds an applet says which one it is. */
export function withApplet(items: readonly Item[], shown: EventOf<"applet.shown">["data"]): readonly Item[] {
  const isIt = (item: Item): item is OutputItem => item.type === "output" && item.output.id === shown.output;
  return changeLast(items, isIt, (item) => ({ ...item, applet: shownApplet(shown) }));
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
