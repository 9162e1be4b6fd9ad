// Words that were typed and not sent, kept per session in this browser.
//
// Invariant: a draft carries the key under which it is sent, and keeps it for as long as its words stay the same. So a
// prompt that was sent and whose answer never came can be sent again, even after a reload, and is taken once.
import type { SessionId } from "../../wire/names";

export interface Draft {
  readonly text: string;
  readonly key: string;
}

const storageKey = (session: SessionId) => `throughline.draft.${session}`;

export function newDraft(text: string): Draft {
  return { text, key: crypto.randomUUID() };
}

export function readDraft(session: SessionId): Draft {
  const stored = localStorage.getItem(storageKey(session));
  if (stored !== null) {
    try {
      const draft = JSON.parse(stored) as Partial<Draft> | null;
      if (typeof draft?.text === "string" && typeof draft.key === "string") {
        return { text: draft.text, key: draft.key };
      }
    } catch {
      // Not written by this page: as good as none.
    }
  }
  return newDraft("");
}

export function storeDraft(session: SessionId, draft: Draft): void {
  try {
    if (draft.text === "") {
      localStorage.removeItem(storageKey(session));
    } else {
      localStorage.setItem(storageKey(session), JSON.stringify(draft));
    }
  } catch {
    // No room: the words are still on the screen.
  }
}
