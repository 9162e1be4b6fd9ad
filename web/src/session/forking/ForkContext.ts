// Lets a turn ask for a session that goes on from it.
import { createContext } from "react";

import type { Image } from "../../wire/names";

/** What a fork is begun with. */
export interface ForkWish {
  /** The last turn that it goes on from; 0 is the session's beginning. */
  readonly after: number;
  /** The turn whose prompt is written anew, if one is. */
  readonly edits: number | null;
  readonly text: string;
  readonly images: readonly Image[];
}

/** Null where nothing can be forked. */
export const ForkContext = createContext<((wish: ForkWish) => void) | null>(null);
