// What is being looked for in a turn, for whatever of the turn stands folded.
import { createContext } from "react";

import type { Item, ToolCall } from "../../state/transcript";
import { placesOf, wordsOf } from "./words";

/** The turn that the reader was taken to, and what was found in it. */
export interface FoundWords {
  readonly turn: number;
  readonly query: string;
  readonly exact: boolean;
}

export const FoundContext = createContext<FoundWords | null>(null);

/** Which calls of a turn hold all that is looked for, by their numbers. */
export function callsHolding(items: readonly Item[], { query, exact }: FoundWords): ReadonlySet<number> {
  const words = wordsOf(query, exact);
  // Several words are marked side by side, too, but may stand apart.
  const wanted = words.length > 1 ? words.filter((word) => word !== query.trim()) : words;
  const holds = (text: string) => wanted.length > 0 && wanted.every((word) => placesOf(text, [word], exact).length > 0);
  return new Set(items.flatMap((item) => (item.type === "tool" && holds(textsOf(item)) ? [item.tool] : [])));
}

/** What people read of a call: not its kind and state, nor a picture's bytes. */
function textsOf({ title, name, content, locations, input, output }: ToolCall): string {
  return textsIn([title, name, content.filter(({ type }) => type !== "image"), locations, input, output]).join("\n");
}

/** Every text of a value, however deep. */
function textsIn(value: unknown): string[] {
  return typeof value === "string" ? [value] : typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
