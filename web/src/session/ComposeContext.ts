// Lets a part of the page that is not the composer put words into it.
import { createContext } from "react";

export interface Compose {
  /** Puts words into the composer and the focus after them. Words that wait there already are kept below them. */
  setDraft(text: string): void;
}

export const ComposeContext = createContext<Compose>({ setDraft: () => undefined });
