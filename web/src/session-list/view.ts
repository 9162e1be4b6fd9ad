// What the list is asked to show: which sessions, in which groups; and whether a session is one of them.
//
// Invariant: a matcher says of a row what the server's filter says, so that a row that changes is listed or not without asking again.
import type { SessionQuery } from "../api/http";
import { isArchived, isPinned } from "../state/sessionList";
import type { Works } from "../state/works";
import { workOf } from "../state/works";
import { titleOf } from "../state/words";
import type { SessionRow, SessionState } from "../wire/names";
import { readFilter } from "./filter";
import type { Grouping } from "./lines";
import { GROUPINGS } from "./lines";

/** Which sessions the list is of. */
export type Shelf = "listed" | "archived" | "deleted";

export interface ListView {
  readonly shelf: Shelf;
  readonly grouping: Grouping;
  readonly text: string;
  readonly state: SessionState | "unseen" | null;
  readonly agent: string | null;
  readonly project: string | null;
  readonly tag: string | null;
}

const GROUPING = "throughline.list.grouping";

export function firstView(): ListView {
  const kept = localStorage.getItem(GROUPING);
  const grouping = GROUPINGS.find((known) => known === kept) ?? "day";
  return { shelf: "listed", grouping, text: "", state: null, agent: null, project: null, tag: null };
}

export function keepGrouping(grouping: Grouping): void {
  localStorage.setItem(GROUPING, grouping);
}

/** Something is asked for, beside the whole list. */
export function isFiltered({ text, state, agent, project, tag }: ListView): boolean {
  const { words, ...is } = readFilter(text);
  return words.length > 0 || Object.keys(is).length > 0 || [state, agent, project, tag].some((wish) => wish !== null);
}

/** The whole list is read as it comes; everything else is asked for. */
export function queryOf(view: ListView): SessionQuery | null {
  if (view.shelf === "deleted" || (view.shelf === "listed" && !isFiltered(view))) {
    return null;
  }
  const { words, archived, pinned, unseen } = readFilter(view.text);
  const unobserved = view.state === "unseen" || unseen;
  return {
    archived: archivedQuery(view, archived),
    text: words.join(" ") || undefined,
    ...(view.state !== null && view.state !== "unseen" && { state: view.state }),
    ...(unobserved !== undefined && { unobserved }),
    ...(pinned !== undefined && { pinned }),
    agent: view.agent ?? undefined,
    project: view.project ?? undefined,
    tag: view.tag ?? undefined,
  };
}

/** Whether a row is one of those that the view asks for. */
export function matcherOf(view: ListView, works: Works): (row: SessionRow) => boolean {
  const { words, archived, pinned, unseen } = readFilter(view.text);
  const lower = words.map((word) => word.toLowerCase());
  const wantsArchived = archivedQuery(view, archived) === "only";
  const unobserved = view.state === "unseen" || unseen;
  return (row) => {
    const text = lower.length === 0 ? "" : [titleOf(row), row.project, row.agent, workOf(works, row)?.name ?? "", ...(row.tags ?? [])].join("\n").toLowerCase();
    return (
      isArchived(row) === wantsArchived &&
      (view.state === null || view.state === "unseen" || row.state === view.state) &&
      (unobserved === undefined || row.unobserved === unobserved) &&
      (pinned === undefined || isPinned(row) === pinned) &&
      (view.agent === null || row.agent === view.agent) &&
      (view.project === null || row.project === view.project) &&
      (view.tag === null || (row.tags ?? []).includes(view.tag)) &&
      lower.every((word) => text.includes(word))
    );
  };
}

function archivedQuery({ shelf }: ListView, archived: boolean | undefined): "only" | "no" {
  return (archived ?? shelf === "archived") ? "only" : "no";
}
