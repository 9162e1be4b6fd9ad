// What the palette lists, in the order of the arrow keys: completions, commands, sessions, and what was found.
import { baseName } from "../state/context";
import type { SearchPage, SearchResult, SessionRow } from "../wire/names";
import type { Completion } from "./query";

export interface Command {
  readonly name: string;
  readonly keys: string;
  run(): void;
}

export type Item =
  | { readonly kind: "completion"; readonly completion: Completion }
  | { readonly kind: "recent"; readonly query: string }
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "session"; readonly row: SessionRow }
  | { readonly kind: "result"; readonly result: SearchResult }
  | { readonly kind: "more" };

export interface Group {
  readonly key: string;
  readonly name: string;
  /** More about it, quieter. */
  readonly about: string | null;
  readonly items: readonly Item[];
}

interface Palette {
  readonly query: string;
  readonly completions: readonly Completion[];
  readonly recent: readonly string[];
  readonly commands: readonly Command[];
  /** Most recently active first. */
  readonly sessions: readonly SessionRow[];
  readonly page: SearchPage | null;
}

const MOST_SESSIONS = 6;

export function groupsOf({ query, completions, recent, commands, sessions, page }: Palette): Group[] {
  const words = query.trim().toLowerCase();
  const groups: Group[] = [];
  const add = (key: string, name: string, items: Item[], about: string | null = null) => {
    if (items.length > 0) {
      groups.push({ key, name, about, items });
    }
  };
  add("completions", "Narrow it down", completions.map((completion) => ({ kind: "completion", completion })));
  if (words === "") {
    add("recent", "Searched before", recent.map((each) => ({ kind: "recent", query: each })));
    add("sessions", "Recent sessions", sessions.slice(0, MOST_SESSIONS).map((row) => ({ kind: "session", row })));
    add("commands", "Commands", commands.map((command) => ({ kind: "command", command })));
    return groups;
  }
  add("commands", "Commands", commands.filter(({ name }) => isNamed(name, words)).map((command) => ({ kind: "command", command })));
  for (const results of bySession(page?.results ?? [])) {
    const [first] = results;
    add(
      `session ${first?.session_id}`,
      first?.session_name || "Untitled session",
      results.map((result) => ({ kind: "result", result })),
      first === undefined ? null : `${first.agent} · ${baseName(first.project)}`,
    );
  }
  add("more", "", page?.next_cursor ? [{ kind: "more" }] : []);
  return groups;
}

/** Each word that was typed begins a word of the name. */
function isNamed(name: string, words: string): boolean {
  const parts = name.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return words.split(/\s+/).every((word) => parts.some((part) => part.startsWith(word)));
}

/** Results of one session together, the session with the best one first. */
function bySession(results: readonly SearchResult[]): SearchResult[][] {
  const groups = new Map<string, SearchResult[]>();
  for (const result of results) {
    const group = groups.get(result.session_id);
    if (group === undefined) {
      groups.set(result.session_id, [result]);
    } else {
      group.push(result);
    }
  }
  // A turn says more than the title, which is the group's own name most of the time.
  return [...groups.values()].map((group) => group.toSorted((a, b) => Number(a.turn === 0) - Number(b.turn === 0)));
}

/** Where a result leads. */
export function resultHref({ session_id, turn, tool }: SearchResult): string {
  return `/s/${session_id}${turn === 0 ? "" : `#${tool ?? `t${turn}`}`}`;
}

/** "12 turns in 3 sessions"; the count is of the server, for all pages. */
export function foundWords({ total, more_than_total, results }: SearchPage): string {
  if (total === 0) {
    return "Nothing was found";
  }
  const sessions = new Set(results.map(({ session_id }) => session_id)).size;
  const turns = `${more_than_total ? "More than " : ""}${total} ${total === 1 ? "match" : "matches"}`;
  return results.length < total || more_than_total ? `${turns}, the best first` : `${turns} in ${sessions} ${sessions === 1 ? "session" : "sessions"}`;
}
