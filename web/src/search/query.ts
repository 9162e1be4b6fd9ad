// The words of a search as they are typed: which filter is being written, what could complete it, and what it would be
// then. What the query means is for the server to say.
import { baseName } from "../state/context";

export interface Filter {
  readonly key: string;
  readonly hint: string;
  /** An example, for those who see it the first time. */
  readonly example: string;
}

export const FILTERS: readonly Filter[] = [
  { key: "agent", hint: "which agent the session is with", example: "agent:claude" },
  { key: "project", hint: "words of the project’s path", example: "project:loom" },
  { key: "work", hint: "sessions of a piece of work", example: "work:loom" },
  { key: "tag", hint: "sessions with a tag", example: "tag:bug" },
  { key: "file", hint: "words of a file that was touched", example: "file:shuttle.rs" },
  { key: "tool", hint: "words of a tool’s name or kind", example: "tool:execute" },
  { key: "outcome", hint: "how a tool call ended", example: "outcome:fail" },
  { key: "role", hint: "who said it, or where", example: "role:prompt" },
  { key: "before", hint: "earlier than a day", example: "before:2026-01-31" },
  { key: "after", hint: "that day or later", example: "after:2026-01-01" },
];

/** What is known of the values that filters take. */
export interface KnownValues {
  readonly agents: readonly string[];
  readonly projects: readonly string[];
  /** Pieces of work, the one that was added to last first. */
  readonly works: readonly { readonly name: string; readonly project: string }[];
  readonly tags?: readonly string[];
  /** Today, for the filters that take a day. */
  readonly now: number;
}

export interface Completion {
  /** What is shown. */
  readonly label: string;
  readonly hint: string;
  /** The whole query with it, and where the caret goes. */
  readonly query: string;
  readonly caret: number;
}

const MOST = 6;
const DAY_MS = 86_400_000;

/** What could stand where the caret is: a filter's name, or a value of the filter that is being written. */
export function completionsAt(query: string, caret: number, known: KnownValues): Completion[] {
  const before = query.slice(0, caret);
  // Inside of quotes nothing is a filter.
  if ((before.match(/"/g)?.length ?? 0) % 2 === 1) {
    return [];
  }
  const word = /\S*$/.exec(before)?.[0] ?? "";
  const after = query.slice(caret);
  // In the middle of a word somebody mends it.
  if (word === "" || /^\S/.test(after)) {
    return [];
  }
  const minus = word.startsWith("-") ? "-" : "";
  const bare = word.slice(minus.length);
  const colon = bare.indexOf(":");
  const start = caret - word.length;
  const put = (text: string, end: string): Pick<Completion, "query" | "caret"> => {
    const head = query.slice(0, start) + minus + text + end;
    return { query: head + (end === " " ? after.trimStart() : after), caret: head.length };
  };
  if (colon < 0) {
    return FILTERS.filter(({ key }) => key.startsWith(bare.toLowerCase()) && bare.length >= 2).map(({ key, hint }) => ({
      label: `${minus}${key}:`,
      hint,
      ...put(`${key}:`, ""),
    }));
  }
  const key = bare.slice(0, colon).toLowerCase();
  const typed = bare.slice(colon + 1).toLowerCase();
  return valuesOf(key, known)
    .filter(({ value }) => value.toLowerCase().includes(typed) && value.toLowerCase() !== typed)
    .slice(0, MOST)
    .map(({ value, hint }) => ({ label: `${minus}${key}:${value}`, hint, ...put(`${key}:${quoted(value)}`, " ") }));
}

/** The query with a filter's name at its end, ready for a value. */
export function withFilter(query: string, key: string): string {
  const head = query.trimEnd();
  return `${head}${head === "" ? "" : " "}${key}:`;
}

interface Value {
  readonly value: string;
  readonly hint: string;
}

function valuesOf(key: string, { agents, projects, works, tags = [], now }: KnownValues): Value[] {
  switch (key) {
    case "tag":
      return tags.map((value) => ({ value, hint: "tag" }));
    case "agent":
      return agents.map((value) => ({ value, hint: "agent" }));
    case "project":
      return uniqueBy(projects.map((path) => ({ value: baseName(path), hint: path })));
    case "work":
      // One name may be that of a work in several projects: it finds in all of them.
      return [...new Set(works.map(({ name }) => name))].map((value) => ({ value, hint: `in ${works.flatMap(({ name, project }) => (name === value ? [baseName(project)] : [])).join(", ")}` }));
    case "outcome":
      return [
        { value: "fail", hint: "tool calls that failed" },
        { value: "ok", hint: "tool calls that succeeded" },
      ];
    case "role":
      return [
        { value: "prompt", hint: "what you wrote" },
        { value: "answer", hint: "what the agent said" },
        { value: "thought", hint: "what it thought" },
        { value: "tool", hint: "what it did" },
        { value: "summary", hint: "a turn’s line in the contents" },
        { value: "title", hint: "a session’s title" },
      ];
    case "before":
    case "after":
      return [
        { value: utcDayOf(now), hint: "today" },
        { value: utcDayOf(now - DAY_MS), hint: "yesterday" },
        { value: utcDayOf(now - 7 * DAY_MS), hint: "a week ago" },
        { value: utcDayOf(now - 30 * DAY_MS), hint: "30 days ago" },
      ];
    default:
      return [];
  }
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value.replaceAll('"', "")}"` : value;
}

/** The server counts days in UTC. */
function utcDayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

function uniqueBy(values: Value[]): Value[] {
  return [...new Map(values.map((value) => [value.value, value])).values()];
}
