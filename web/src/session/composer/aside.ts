// What was being written when an earlier prompt was taken up again, per session in this browser.
//
// Invariant: it stays here until it is back in the field. Pictures would fill the store: they are kept only for as long
// as the page is.
import type { SessionId } from "../../wire/names";
import type { Picture } from "./outbox";

export interface Aside {
  readonly text: string;
  readonly pictures: readonly Picture[];
}

const kept = new Map<SessionId, readonly Picture[]>();

const storageKey = (session: SessionId) => `throughline.aside.${session}`;

export function readAside(session: SessionId): Aside | null {
  const text = localStorage.getItem(storageKey(session)) ?? "";
  const pictures = kept.get(session) ?? [];
  return text === "" && pictures.length === 0 ? null : { text, pictures };
}

export function storeAside(session: SessionId, aside: Aside | null): void {
  if (aside === null || aside.pictures.length === 0) {
    kept.delete(session);
  } else {
    kept.set(session, aside.pictures);
  }
  try {
    if (aside === null || aside.text === "") {
      localStorage.removeItem(storageKey(session));
    } else {
      localStorage.setItem(storageKey(session), aside.text);
    }
  } catch {
    // No room: it is kept for as long as the page is.
  }
}
