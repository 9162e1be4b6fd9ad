// What a session is about, as the server tells it: what somebody marked, and what successful results proved.
import type { FrameOf, ProvedValue } from "../wire/names";

export interface SessionContext {
  /** What is marked, by the name of the set. */
  readonly sets: Readonly<Record<string, readonly string[]>>;
  /** What was proved, by the name of the fact; what was not is not there. */
  readonly proofs: Readonly<Record<string, { readonly count: number; readonly values: readonly ProvedValue[] }>>;
}

export function contextOf({ context, proofs }: FrameOf<"session.context">): SessionContext {
  return { sets: context, proofs };
}

/** A fact's values, most recently proved first. */
export function provedValues(context: SessionContext, fact: string): readonly ProvedValue[] {
  return (context.proofs[fact]?.values ?? []).toSorted((a, b) => b.entry - a.entry);
}

/** A marked file from `/` on: what does not begin there lies in the session's directory. */
export function absolutePath(path: string, cwd: string): string {
  return path.startsWith("/") ? path : `${cwd.replace(/\/$/, "")}/${path}`;
}

/** The last name of a path, of whichever system it is. */
export function baseName(path: string): string {
  return path.split(/[\\/]/).findLast((name) => name !== "") ?? path;
}
