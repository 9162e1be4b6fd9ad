// The contents of a whole piece of work: one numbered list over its sessions, with a line before each.
import type { SessionId } from "../wire/names";
import type { WorkTocEntry } from "../wire/work";

export type WholeRow =
  | { readonly kind: "session"; readonly session: SessionId; readonly name: string }
  | { readonly kind: "turn"; readonly entry: WorkTocEntry };

/** Entries are in the order of their numbers. */
export function wholeRows(entries: readonly WorkTocEntry[]): WholeRow[] {
  return entries.flatMap((entry, index): WholeRow[] => {
    const turn: WholeRow = { kind: "turn", entry };
    return entries[index - 1]?.session_id === entry.session_id ? [turn] : [{ kind: "session", session: entry.session_id, name: entry.session_name }, turn];
  });
}

/** What follows a number is replaced by what was read after it. */
export function takeAfter(known: readonly WorkTocEntry[], after: number, read: readonly WorkTocEntry[]): readonly WorkTocEntry[] {
  return [...known.filter(({ number }) => number <= after), ...read];
}

/** The last number before those of a session; 0 if it has none, so that all is read again. */
export function numberBefore(known: readonly WorkTocEntry[], session: SessionId): number {
  const first = known.find(({ session_id }) => session_id === session);
  return first === undefined ? 0 : first.number - 1;
}
