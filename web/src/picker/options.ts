// What the picker offers: pieces of work, and the sessions that stand for themselves.
//
// Invariant: a session of a known work is not listed by itself; its work is, once, and leads to the newest of its
// sessions.
import { isDeleted } from "../state/sessionList";
import { titleOf } from "../state/words";
import type { Works } from "../state/works";
import { workOf, worksByNewest } from "../state/works";
import { distinctTail } from "../ui/paths";
import type { SessionId, SessionRow } from "../wire/names";

export const SESSIONS_LABEL = "Sessions";
const MAX_LABEL_CHARS = 60;

export type PickerOption =
  /** `about`, a project, tells works of one name apart; `tail` is as much of its end as does. */
  | { readonly kind: "work"; readonly value: string; readonly label: string; readonly about: string | null; readonly tail: string | null; readonly session: SessionId }
  | { readonly kind: "session"; readonly value: string; readonly label: string; readonly row: SessionRow }
  /** Stands where no session is. */
  | { readonly kind: "nothing"; readonly value: string; readonly label: string };

export interface PickerGroup {
  readonly label: string;
  readonly options: readonly PickerOption[];
}

/** `rows` are in their order; works come in that of their newest addition. */
export function groupsOf(works: Works, worksLabel: string, rows: readonly SessionRow[]): PickerGroup[] {
  const offered = worksByNewest(works);
  const named = new Map<string, string[]>();
  for (const { name, project } of offered) {
    named.set(name, [...(named.get(name) ?? []), project]);
  }
  const ofWorks = offered.flatMap(({ id, name, project, sessionIds }): PickerOption[] => {
    const session = sessionIds.at(-1);
    const projects = named.get(name) ?? [];
    const told = projects.length > 1 ? { about: project, tail: distinctTail(project, projects) } : { about: null, tail: null };
    return session === undefined ? [] : [{ kind: "work", value: id, label: name, ...told, session }];
  });
  const alone = rows
    .filter((row) => !isDeleted(row) && workOf(works, row) === null)
    .map((row): PickerOption => ({ kind: "session", value: row.id, label: sessionLabel(row), row }));
  const sessions: PickerOption[] = alone.length > 0 ? alone : [{ kind: "nothing", value: "nothing", label: "No session outside of a piece of work" }];
  const groups: PickerGroup[] = ofWorks.length > 0 ? [{ label: worksLabel, options: ofWorks }] : [];
  return [...groups, { label: SESSIONS_LABEL, options: sessions }];
}

/** The first line, cut where it is long. */
export function sessionLabel(row: SessionRow): string {
  const line = titleOf(row).split("\n", 1)[0]?.trim() ?? "";
  const characters = [...line];
  return characters.length <= MAX_LABEL_CHARS ? line : `${characters.slice(0, MAX_LABEL_CHARS).join("").trimEnd()}…`;
}

/** Every word of the input is in the label. */
export function isMatch(option: PickerOption, input: string): boolean {
  const words = input.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (option.kind === "nothing") {
    return words.length === 0;
  }
  const text = `${option.label} ${option.kind === "work" ? (option.about ?? "") : ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What stands for the open session: its work, else itself. */
export function chosenOf(groups: readonly PickerGroup[], works: Works, row: SessionRow | undefined): PickerOption | null {
  if (row === undefined) {
    return null;
  }
  const value = workOf(works, row)?.id ?? row.id;
  return groups.flatMap(({ options }) => options).find((option) => option.value === value) ?? null;
}

export function hrefOf(option: PickerOption): string | null {
  switch (option.kind) {
    case "work":
      return `/s/${option.session}`;
    case "session":
      return `/s/${option.value}`;
    case "nothing":
      return null;
  }
}
