// The lines of the list: what needs the person first, then what is pinned, then groups, each with a heading.
//
// Invariant: a session has one line, or is folded behind the newest one of its work; nobody has to read a page twice.
import { baseName } from "../state/context";
import { isPinned } from "../state/sessionList";
import type { Works } from "../state/works";
import { workOf } from "../state/works";
import { dayWords } from "../ui/time";
import type { SessionRow } from "../wire/names";
import type { WorkId } from "../wire/work";

export const GROUPINGS = ["day", "project", "work", "agent"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export type ListLine =
  | { readonly kind: "heading"; readonly key: string; readonly words: string; readonly count: number; readonly loud: boolean }
  | {
      readonly kind: "session";
      readonly key: string;
      readonly row: SessionRow;
      readonly work: string | null;
      /** How many earlier sessions of its work are behind it, and whether they are shown. */
      readonly fold: { readonly work: WorkId; readonly count: number; readonly open: boolean } | null;
      /** It is one of those behind another. */
      readonly behind: boolean;
    };

export interface Arranging {
  readonly grouping: Grouping;
  readonly works: Works;
  /** Works whose sessions are all shown. */
  readonly open: ReadonlySet<WorkId>;
  /** Whether sessions of one work are folded; what was looked for is all shown. */
  readonly folds: boolean;
  readonly now: number;
}

/** `rows` are most recently active first, and so is every group. */
export function linesOf(rows: readonly SessionRow[], arranging: Arranging): ListLine[] {
  const needYou = rows.filter((row) => row.state === "needs_you");
  const pinned = rows.filter((row) => row.state !== "needs_you" && isPinned(row));
  const rest = rows.filter((row) => row.state !== "needs_you" && !isPinned(row));
  const single = { ...arranging, folds: false };
  return [
    ...group("needs-you", "Needs you", needYou, single, true),
    ...group("pinned", "Pinned", pinned, single),
    ...groupsOf(rest, arranging).flatMap(({ key, words, rows: members }) => group(key, words, members, arranging)),
  ];
}

interface Group {
  key: string;
  words: string;
  rows: SessionRow[];
}

function groupsOf(rows: readonly SessionRow[], arranging: Arranging): Group[] {
  const groups = new Map<string, Group>();
  // A folded work stands where its newest session does.
  const led = new Map<WorkId, Group>();
  for (const row of rows) {
    const key = keyOf(row, arranging);
    const work = arranging.folds ? workOf(arranging.works, row) : null;
    const found = (work && led.get(work.id)) ?? groups.get(key) ?? { key, words: wordsOf(row, arranging), rows: [] };
    groups.set(found.key, found);
    found.rows.push(row);
    if (work !== null && !led.has(work.id)) {
      led.set(work.id, found);
    }
  }
  return [...groups.values()];
}

/** Which group a row is of. It is asked of every row, so it formats nothing. */
function keyOf(row: SessionRow, { grouping, works }: Arranging): string {
  switch (grouping) {
    case "day":
      return `day ${new Date(row.activeAt).setHours(0, 0, 0, 0)}`;
    case "project":
      return `project ${row.project}`;
    case "agent":
      return `agent ${row.agent}`;
    case "work":
      return `work ${workOf(works, row)?.id ?? ""}`;
  }
}

/** What the group of a row is called. */
function wordsOf(row: SessionRow, { grouping, works, now }: Arranging): string {
  switch (grouping) {
    case "day":
      return dayWords(row.activeAt, now);
    case "project":
      return baseName(row.project);
    case "agent":
      return row.agent;
    case "work":
      return workOf(works, row)?.name ?? "Other sessions";
  }
}

function group(key: string, words: string, rows: readonly SessionRow[], { grouping, works, open, folds }: Arranging, loud = false): ListLine[] {
  if (rows.length === 0) {
    return [];
  }
  const lines: ListLine[] = [{ kind: "heading", key, words, count: rows.length, loud }];
  const members = new Map<WorkId, SessionRow[]>();
  for (const row of folds && grouping !== "work" ? rows : []) {
    const work = workOf(works, row);
    if (work !== null) {
      const known = members.get(work.id);
      if (known === undefined) {
        members.set(work.id, [row]);
      } else {
        known.push(row);
      }
    }
  }
  for (const row of rows) {
    const work = workOf(works, row);
    const name = grouping === "work" ? null : (work?.name ?? null);
    const own = (work && members.get(work.id)) ?? [row];
    if (own[0] !== row) {
      continue;
    }
    const others = own.slice(1);
    const fold = work === null || others.length === 0 ? null : { work: work.id, count: others.length, open: open.has(work.id) };
    lines.push({ kind: "session", key: row.id, row, work: name, fold, behind: false });
    if (fold?.open) {
      lines.push(...others.map((other): ListLine => ({ kind: "session", key: other.id, row: other, work: null, fold: null, behind: true })));
    }
  }
  return lines;
}
