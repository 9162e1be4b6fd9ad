// The list of sessions, most recently active first, as far as its pages have been read.
//
// Invariant: rows are kept by id and ordered when asked, so a row that moves is never doubled. A row older than the
// last page that was read is known but not listed: others, not read yet, belong between it and the page's end.
import type { SessionId, SessionPage, SessionRow } from "../wire/names";

export interface SessionList {
  /** Every row heard of. */
  readonly rows: ReadonlyMap<SessionId, SessionRow>;
  readonly unobservedCount: number;
  readonly extent: Extent;
}

/** How far down the list has been read. */
export type Extent =
  /** No page has come yet. */
  | { kind: "unread" }
  /** Down to this row; `nextCursor` asks for more. */
  | { kind: "part"; last: ListKey; nextCursor: string }
  | { kind: "whole" };

/** A row's place in the list. */
interface ListKey {
  readonly activeAt: string;
  readonly id: SessionId;
}

export const UNREAD_LIST: SessionList = { rows: new Map(), unobservedCount: 0, extent: { kind: "unread" } };

/**
 * The first page, at connect and after too much was missed: what was known of the list before is replaced. The rows of
 * sessions that are `open` stay if they belong below the page: it says nothing of them.
 */
export function takeFirstPage(list: SessionList, page: SessionPage, open: Iterable<SessionId>): SessionList {
  const fresh = takePage({ ...list, rows: new Map() }, page);
  const { extent } = fresh;
  if (extent.kind !== "part") {
    return fresh;
  }
  const rows = new Map(fresh.rows);
  for (const id of open) {
    const row = list.rows.get(id);
    if (row !== undefined && !rows.has(id) && compareKeys(row, extent.last) > 0) {
      rows.set(id, row);
    }
  }
  return { ...fresh, rows };
}

export function takePage(list: SessionList, page: SessionPage): SessionList {
  const rows = new Map(list.rows);
  for (const row of page.sessions) {
    rows.set(row.id, row);
  }
  const last = page.sessions.at(-1);
  const extent: Extent =
    last === undefined || page.nextCursor === null || page.nextCursor === undefined
      ? { kind: "whole" }
      : { kind: "part", last: { activeAt: last.activeAt, id: last.id }, nextCursor: page.nextCursor };
  return { rows, unobservedCount: page.unobservedCount, extent };
}

export function putRow(list: SessionList, row: SessionRow): SessionList {
  return { ...list, rows: new Map(list.rows).set(row.id, row) };
}

export function removeRow(list: SessionList, id: SessionId): SessionList {
  const rows = new Map(list.rows);
  rows.delete(id);
  return { ...list, rows };
}

/** The rows to show, most recently active first. */
export function listedRows(list: SessionList): SessionRow[] {
  const { extent } = list;
  return [...list.rows.values()]
    .filter((row) => !isDeleted(row))
    .filter((row) => extent.kind !== "part" || compareKeys(row, extent.last) <= 0)
    .toSorted(compareKeys);
}

export function isDeleted(row: SessionRow): boolean {
  return row.deletedAt !== null && row.deletedAt !== undefined;
}

/** Newer first; ids tell rows of one instant apart. Instants are written so that text order is time order. */
function compareKeys(a: ListKey, b: ListKey): number {
  return compareText(b.activeAt, a.activeAt) || compareText(b.id, a.id);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
