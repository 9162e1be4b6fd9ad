// Lets a part of the page that is not the composer put a prompt into it.
import { createContext } from "react";

import type { Image } from "../../wire/names";

export interface EarlierPrompt {
  readonly text: string;
  readonly images: readonly Image[];
}

export interface Compose {
  /** Puts a prompt into the composer and the focus after its words. What waits there is put aside, not lost. */
  edit(prompt: EarlierPrompt): void;
  /** Puts words below those that stand in the composer; the focus stays where it is. */
  add(text: string): void;
}

/** Null where nothing can be written. */
export const ComposeContext = createContext<Compose | null>(null);
