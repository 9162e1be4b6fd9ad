// What is being typed into waiting prompts, per session in this tab, until the server has it.
//
// Invariant: an edit outlives the row that it is typed into. One whose prompt does not wait any more is taken by the composer.
import type { InteractionId, SessionId } from "../../wire/names";

type Edits = Readonly<Record<InteractionId, string>>;

const storageKey = (session: SessionId) => `throughline.queuedEdits.${session}`;
const listeners = new Set<() => void>();

export function readEdit(session: SessionId, prompt: InteractionId): string | null {
  return readEdits(session)[prompt] ?? null;
}

/** Null where the words are as the server has them. */
export function storeEdit(session: SessionId, prompt: InteractionId, text: string | null): void {
  const { [prompt]: _, ...others } = readEdits(session);
  writeEdits(session, text === null ? others : { ...others, [prompt]: text });
  listeners.forEach((listener) => listener());
}

/** The words typed into prompts that are not among the `waiting` ones; they are not kept here any more. */
export function takeOrphans(session: SessionId, waiting: readonly InteractionId[]): string[] {
  const edits = Object.entries(readEdits(session));
  const orphans = edits.filter(([prompt]) => !waiting.includes(prompt));
  if (orphans.length > 0) {
    writeEdits(session, Object.fromEntries(edits.filter(([prompt]) => waiting.includes(prompt))));
  }
  return orphans.map(([, text]) => text).filter((text) => text.trim() !== "");
}

/** Calls back whenever an edit was stored; gives a way to stop it. */
export function onEdit(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function readEdits(session: SessionId): Edits {
  try {
    const edits = JSON.parse(sessionStorage.getItem(storageKey(session)) ?? "{}") as unknown;
    return typeof edits === "object" && edits !== null ? (edits as Edits) : {};
  } catch {
    // Not written by this page: as good as none.
    return {};
  }
}

function writeEdits(session: SessionId, edits: Edits): void {
  try {
    if (Object.keys(edits).length === 0) {
      sessionStorage.removeItem(storageKey(session));
    } else {
      sessionStorage.setItem(storageKey(session), JSON.stringify(edits));
    }
  } catch {
    // No room: the words are still on the screen.
  }
}
