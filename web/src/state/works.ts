// The pieces of work that have been heard of, by id.
//
// Invariant: a session belongs to a work only while that work is known here. One whose work is gone, or was never heard
// of, stands for itself.
import type { SessionRow } from "../wire/names";
import type { Work, WorkId } from "../wire/work";

export type Works = ReadonlyMap<WorkId, Work>;

export const NO_WORKS: Works = new Map();

/** The first page of the list replaces what was known, as it does with the rows; `kept` are those of open sessions. */
export function takeFirstWorks(works: Works, page: readonly Work[], kept: Iterable<WorkId>): Works {
  const next = new Map<WorkId, Work>();
  for (const id of kept) {
    const work = works.get(id);
    if (work !== undefined) {
      next.set(id, work);
    }
  }
  return takeWorks(next, page);
}

export function takeWorks(works: Works, news: readonly Work[]): Works {
  return news.length === 0 ? works : new Map([...works, ...news.map((work) => [work.id, work] as const)]);
}

export function removeWork(works: Works, id: WorkId): Works {
  if (!works.has(id)) {
    return works;
  }
  const left = new Map(works);
  left.delete(id);
  return left;
}

/** Those that have sessions, the one that was added to last first. */
export function worksByNewest(works: Works): Work[] {
  return [...works.values()].filter(({ sessionIds }) => sessionIds.length > 0).toSorted((a, b) => (a.addedAt < b.addedAt ? 1 : a.addedAt > b.addedAt ? -1 : 0));
}

export function workOf(works: Works, row: Pick<SessionRow, "metaContextId">): Work | null {
  return (row.metaContextId && works.get(row.metaContextId)) || null;
}
