// The list of sessions, most recently active first, as far as its pages have been read.
//
// Invariant: rows are kept by id and ordered when asked, so a row that moves is never doubled. A row older than the
// last page that was read is known but not listed: others, not read yet, belong between it and the page's end. When the list
// begins anew, what was listed stays in sight below the page that came, until the pages below it have come again, too.
// Pages after the first may come late: of a session that was told of since the first one, they say nothing new.
import type { SessionId, SessionPage, SessionRow } from "../wire/names";

export interface SessionList {
  /** Every row heard of. */
  readonly rows: ReadonlyMap<SessionId, SessionRow>;
  /** The sessions that were told of, one at a time, since the first page came. */
  readonly told: ReadonlySet<SessionId>;
  readonly unobservedCount: number;
  /** How many cannot go on without the person, as the server counts them. */
  readonly needsYouCount: number;
  readonly extent: Extent;
  /** What was listed before the list began anew, until it has been read as far down again. */
  readonly before: Before | null;
  /** How often the first page has come: each time, what others had read into the list is gone. */
  readonly generation: number;
}

/** How far down the list has been read. */
export type Extent =
  /** No page has come yet. */
  | { kind: "unread" }
  /** Down to this row; `nextCursor` asks for more. */
  | { kind: "part"; last: ListKey; nextCursor: string }
  | { kind: "whole" };

interface Before {
  readonly rows: readonly SessionRow[];
  /** How far down it had been read. */
  readonly last: ListKey;
}

/** How many rows are asked for at once, after the first page. */
export const LIST_PAGE = 200;

/** A row's place in the list. */
export interface ListKey {
  readonly activeAt: string;
  readonly id: SessionId;
}

export const UNREAD_LIST: SessionList = { rows: new Map(), told: new Set(), unobservedCount: 0, needsYouCount: 0, extent: { kind: "unread" }, before: null, generation: 0 };

/**
 * The first page, at connect and after too much was missed: what was known of the list before is replaced. The rows of
 * sessions that are `open` stay if they belong below the page, as it says nothing of them; and what was listed below it is kept
 * `before` the pages that are to come again.
 */
export function takeFirstPage(list: SessionList, page: SessionPage, open: Iterable<SessionId>): SessionList {
  const { unobservedCount, needsYouCount = 0 } = page;
  const anew = { rows: new Map(), told: new Set<SessionId>(), unobservedCount, needsYouCount, before: beforeOf(list), generation: list.generation + 1 };
  const fresh = putPage({ ...list, ...anew }, page);
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

/** The page after the cursor `after`. One that was asked for before the list began anew would leave a hole, and is dropped. */
export function takePage(list: SessionList, page: SessionPage, after: string): SessionList {
  return list.extent.kind === "part" && list.extent.nextCursor === after ? putPage(list, page) : list;
}

function putPage(list: SessionList, page: SessionPage): SessionList {
  const rows = new Map(list.rows);
  for (const row of [...(page.foremost ?? []), ...page.sessions]) {
    if (!list.told.has(row.id)) {
      rows.set(row.id, row);
    }
  }
  const last = page.sessions.at(-1);
  const extent: Extent =
    last === undefined || page.nextCursor === null || page.nextCursor === undefined
      ? { kind: "whole" }
      : { kind: "part", last: { activeAt: last.activeAt, id: last.id }, nextCursor: page.nextCursor };
  const before = list.before !== null && extent.kind === "part" && compareKeys(extent.last, list.before.last) < 0 ? list.before : null;
  return { ...list, rows, extent, before };
}

function beforeOf(list: SessionList): Before | null {
  const rows = listedRows(list);
  const last = list.before?.last ?? (list.extent.kind === "part" ? list.extent.last : rows.at(-1));
  return list.extent.kind === "unread" || last === undefined ? null : { rows, last: { activeAt: last.activeAt, id: last.id } };
}

/**
 * Rows of another list, such as what a filter found: they are known from now on, and this list reaches no further. They may
 * come late, too: what was told of one of them since is newer.
 */
export function takeRows(list: SessionList, news: readonly SessionRow[]): SessionList {
  const fresh = news.filter((row) => !list.told.has(row.id));
  return fresh.length === 0 ? list : { ...list, rows: new Map([...list.rows, ...fresh.map((row) => [row.id, row] as const)]) };
}

export function putRow(list: SessionList, row: SessionRow): SessionList {
  return { ...list, rows: new Map(list.rows).set(row.id, row), told: withId(list.told, row.id) };
}

export function removeRow(list: SessionList, id: SessionId): SessionList {
  const rows = new Map(list.rows);
  rows.delete(id);
  const before = list.before === null ? null : { ...list.before, rows: list.before.rows.filter((row) => row.id !== id) };
  return { ...list, rows, told: withId(list.told, id), before };
}

function withId(ids: ReadonlySet<SessionId>, id: SessionId): ReadonlySet<SessionId> {
  return ids.has(id) ? ids : new Set(ids).add(id);
}

/** The rows to show, most recently active first; those that stand before the others are known however old they are. */
export function listedRows(list: SessionList): SessionRow[] {
  const { extent, before } = list;
  const end = extent.kind === "part" ? extent.last : null;
  const reach = before?.last ?? end;
  // What has not come again where its page came is gone.
  const kept = before === null || end === null ? [] : before.rows.filter((row) => !list.rows.has(row.id) && compareKeys(row, end) > 0);
  return [...list.rows.values(), ...kept]
    .filter((row) => !isDeleted(row) && !isArchived(row))
    .filter((row) => reach === null || isForemost(row) || compareKeys(row, reach) <= 0)
    .toSorted(compareKeys);
}

/** Of the rows heard of, those that `fits`, down to `last`: where another list has been read to. */
export function knownRows(list: SessionList, fits: (row: SessionRow) => boolean, last: ListKey | null): SessionRow[] {
  return [...list.rows.values()]
    .filter((row) => !isDeleted(row) && fits(row) && (last === null || compareKeys(row, last) <= 0))
    .toSorted(compareKeys);
}

export function isArchived(row: SessionRow): boolean {
  return row.archivedAt !== null && row.archivedAt !== undefined;
}

export function isPinned(row: SessionRow): boolean {
  return row.pinnedAt !== null && row.pinnedAt !== undefined;
}

/** Pinned, or waiting for the person. */
export function isForemost(row: SessionRow): boolean {
  return isPinned(row) || row.state === "needs_you";
}

/** The place that a cursor names: when something last happened there, and which session that was. */
export function keyOfCursor(cursor: string): ListKey | null {
  const [millis = "", id = ""] = cursor.split(".");
  const at = Number(millis);
  return id === "" || !Number.isSafeInteger(at) ? null : { activeAt: new Date(at).toISOString(), id };
}

export function isDeleted(row: SessionRow): boolean {
  return row.deletedAt !== null && row.deletedAt !== undefined;
}

/** Newer first; ids tell rows of one instant apart. Instants are written so that text order is time order. */
export function compareKeys(a: ListKey, b: ListKey): number {
  return compareText(b.activeAt, a.activeAt) || compareText(b.id, a.id);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
