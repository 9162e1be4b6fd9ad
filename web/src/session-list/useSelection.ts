// The sessions that are chosen in the list, to do something with all of them.
//
// Invariant: only what the list shows can be chosen; what leaves the list is not chosen any more, also when it comes back.
import { useMemo, useState } from "react";

import type { SessionId, SessionRow } from "../wire/names";

export interface Selection {
  /** In the order of the list. */
  readonly rows: readonly SessionRow[];
  /** A press on a row chooses it instead of opening it. */
  readonly choosing: boolean;
  has(id: SessionId): boolean;
  toggle(id: SessionId): void;
  /** All from the one that was chosen last to this one. */
  reach(id: SessionId): void;
  all(): void;
  begin(): void;
  end(): void;
  /** These are done with; where none is left, it ends. */
  settle(done: readonly SessionId[]): void;
}

interface Chosen {
  readonly ids: ReadonlySet<SessionId>;
  readonly last: SessionId | null;
  readonly choosing: boolean;
}

const NONE: Chosen = { ids: new Set(), last: null, choosing: false };

export function useSelection(shown: readonly SessionRow[]): Selection {
  const [kept, setChosen] = useState(NONE);
  const listed = useMemo(() => new Set(shown.map(({ id }) => id)), [shown]);
  const gone = [...kept.ids].some((id) => !listed.has(id));
  const chosen = gone ? { ...kept, ids: new Set([...kept.ids].filter((id) => listed.has(id))) } : kept;
  if (gone) {
    setChosen(chosen);
  }
  const rows = useMemo(() => (chosen.ids.size === 0 ? [] : shown.filter(({ id }) => chosen.ids.has(id))), [shown, chosen.ids]);
  const choose = (change: (before: Chosen) => Iterable<SessionId>, last: SessionId) => setChosen((before) => ({ ids: new Set(change(before)), last, choosing: true }));
  return {
    rows,
    choosing: chosen.choosing,
    has: (id) => chosen.ids.has(id),
    toggle: (id) => choose(({ ids }) => (ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id]), id),
    reach: (id) =>
      choose(({ ids, last }) => {
        const from = shown.findIndex((row) => row.id === last);
        const to = shown.findIndex((row) => row.id === id);
        return [...ids, ...shown.slice(Math.min(from < 0 ? to : from, to), Math.max(from, to) + 1).map((row) => row.id)];
      }, id),
    all: () => setChosen((before) => ({ ...before, ids: listed, choosing: true })),
    begin: () => setChosen((before) => ({ ...before, choosing: true })),
    end: () => setChosen(NONE),
    settle: (done) =>
      setChosen((before) => {
        const ids = new Set([...before.ids].filter((id) => !done.includes(id)));
        return ids.size === 0 ? NONE : { ...before, ids };
      }),
  };
}
