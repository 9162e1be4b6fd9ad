// Prompts that left the composer and that the server has not said it keeps, per session in this browser.
//
// Invariant: each stays stored under the key with which it was first sent until it is kept, refused or taken back. So
// it can go out again, even after a reload, and is taken once. Pictures would fill the store: they are kept only for as
// long as the page is.
import type { UnsentAppletState } from "../../wire/applets";
import type { Image, SessionId } from "../../wire/names";

export interface Picture extends Image {
  readonly id: string;
  readonly name: string;
}

export interface Outgoing {
  readonly text: string;
  readonly key: string;
  readonly pictures: readonly Picture[];
  /** What an applet could not write yet: it goes with the prompt, and is the same each time that it goes out. */
  readonly appletState?: UnsentAppletState;
}

export interface Torn {
  readonly text: string;
  readonly key: string;
}

interface Stored {
  text: string;
  key: string;
  hasPictures: boolean;
  appletState?: UnsentAppletState | undefined;
}

/** The pictures of what is stored, by its key. */
const kept = new Map<string, readonly Picture[]>();

const storageKey = (session: SessionId) => `throughline.outbox.${session}`;

/** What was left behind: what can go out as it was, and the words of what has lost its pictures in a reload. */
export function readOutbox(session: SessionId): { whole: Outgoing[]; torn: Torn[] } {
  const stored = readStored(session);
  const isWhole = ({ key, hasPictures }: Stored) => !hasPictures || kept.has(key);
  return {
    whole: stored.filter(isWhole).map(({ text, key, appletState }) => ({ text, key, pictures: kept.get(key) ?? [], ...(appletState && { appletState }) })),
    torn: stored.filter((outgoing) => !isWhole(outgoing)),
  };
}

/** In the place of the one with its key, or after all others. */
export function rememberOutgoing(session: SessionId, { text, key, pictures, appletState }: Outgoing): void {
  if (pictures.length > 0) {
    kept.set(key, pictures);
  }
  const outgoing = { text, key, hasPictures: pictures.length > 0, appletState };
  const stored = readStored(session);
  const at = stored.findIndex((other) => other.key === key);
  write(session, at < 0 ? [...stored, outgoing] : stored.with(at, outgoing));
}

export function forgetOutgoing(session: SessionId, key: string): void {
  kept.delete(key);
  write(
    session,
    readStored(session).filter((stored) => stored.key !== key),
  );
}

function readStored(session: SessionId): Stored[] {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey(session)) ?? "[]") as unknown;
    return Array.isArray(stored) ? stored.filter(isStored) : [];
  } catch {
    // Not written by this page: as good as none.
    return [];
  }
}

function isStored(value: unknown): value is Stored {
  const stored = value as Partial<Stored> | null;
  return typeof stored?.text === "string" && typeof stored.key === "string" && typeof stored.hasPictures === "boolean";
}

function write(session: SessionId, stored: Stored[]): void {
  try {
    if (stored.length === 0) {
      localStorage.removeItem(storageKey(session));
    } else {
      localStorage.setItem(storageKey(session), JSON.stringify(stored));
    }
  } catch {
    // No room: it is still on the screen.
  }
}
