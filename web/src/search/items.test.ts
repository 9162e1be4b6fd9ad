// What the palette lists, and in which order.
import { expect, test } from "vitest";

import type { SearchPage, SearchResult, SessionRow } from "../wire/names";
import { foundWords, groupsOf, resultHref } from "./items";

const result = (session: string, turn: number, change: Partial<SearchResult> = {}): SearchResult => ({
  session_id: session,
  session_name: `session ${session}`,
  project: "/home/ada/loom",
  agent: "guide",
  turn,
  role: "answer",
  summary: "",
  created: "2026-01-02T03:04:05.006Z",
  snippet: { text: "warp", highlights: [] },
  ...change,
});
const page = (results: SearchResult[], change: Partial<SearchPage> = {}): SearchPage => ({ query: "warp", total: results.length, results, ...change });
const row = (id: string, title: string) => ({ id, title }) as SessionRow;
const NOTHING = { query: "", completions: [], recent: [], commands: [], sessions: [], page: null };
const command = (name: string) => ({ name, keys: "", run: () => undefined });

const shown = (groups: ReturnType<typeof groupsOf>) =>
  groups.map(({ name, items }) => `${name}: ${items.map((item) => (item.kind === "result" ? resultHref(item.result) : item.kind)).join(" ")}`);

test("without words there are earlier searches, sessions and commands", () => {
  const groups = groupsOf({ ...NOTHING, recent: ["weft"], commands: [command("New session")], sessions: [row("a", "Mend the loom")] });
  expect(shown(groups)).toEqual(["Searched before: recent", "Recent sessions: session", "Commands: command"]);
});

test("results stand together by session, in the order of each session's best", () => {
  const found = page([result("a", 4), result("b", 1), result("a", 2, { tool: "t2.3" })]);
  expect(shown(groupsOf({ ...NOTHING, query: "warp", page: found }))).toEqual(["session a: /s/a#t4 /s/a#t2.3", "session b: /s/b#t1"]);
});

test("within a session its turns come before its title", () => {
  const found = page([result("a", 0, { role: "title" }), result("a", 4), result("a", 2)]);
  expect(shown(groupsOf({ ...NOTHING, query: "warp", page: found }))).toEqual(["session a: /s/a#t4 /s/a#t2 /s/a"]);
});

test("two sessions of one name stay apart", () => {
  const found = page([result("a", 1, { session_name: "same" }), result("b", 1, { session_name: "same" })]);
  expect(groupsOf({ ...NOTHING, query: "warp", page: found }).map(({ key }) => key)).toEqual(["session a", "session b"]);
});

test("a title that matches leads to its session", () => {
  expect(shown(groupsOf({ ...NOTHING, query: "warp", page: page([result("a", 0, { role: "title" })]) }))).toEqual(["session a: /s/a"]);
});

test("commands are found by how they begin, and what follows can be asked for", () => {
  const groups = groupsOf({ ...NOTHING, query: "new", commands: [command("New session"), command("Keys")], page: page([result("a", 1)], { next_cursor: "30" }) });
  expect(shown(groups)).toEqual(["Commands: command", "session a: /s/a#t1", ": more"]);
});

test.each([
  [page([]), "Nothing was found"],
  [page([result("a", 1)]), "1 match in 1 session"],
  [page([result("a", 1), result("a", 2)]), "2 matches in 1 session"],
  [page([result("a", 1)], { total: 40 }), "40 matches, the best first"],
  [page([result("a", 1)], { total: 1000, more_than_total: true }), "More than 1000 matches, the best first"],
])("%#: %s", (found, words) => {
  expect(foundWords(found)).toBe(words);
});
