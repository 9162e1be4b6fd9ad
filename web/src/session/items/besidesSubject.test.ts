// Tests that all that is known of a call is shown beside the subject of its question, and nothing twice.
import { expect, test } from "vitest";

import type { ToolCall } from "../../state/transcript";
import type { ToolContent } from "../../wire/names";
import { besidesSubject, isNothingBeside } from "./besidesSubject";

const call = (change: Partial<ToolCall>): ToolCall => ({
  type: "tool",
  tool: 1,
  callId: "c",
  title: "Bash",
  name: null,
  kind: "execute",
  status: "pending",
  content: [],
  locations: [],
  input: null,
  output: null,
  ...change,
});
const text = (words: string): ToolContent => ({ type: "text", text: words });
const diff: ToolContent = { type: "diff", path: "/p/a", oldText: "a", newText: "b" };

test.each([
  ["a command", { input: { command: "make" } }, "make"],
  ["a command in words", { input: { command: ["make", "all"] } }, "make all"],
  ["members in lines", { input: { patch: "-a\n+b", dry: true, n: 3, of: { a: 1 } } }, 'patch:\n  -a\n  +b\ndry: true\nn: 3\nof: {"a":1}'],
  ["a text", { input: "patch" }, "patch"],
  ["what it shows", { content: [text("rm -rf build\n"), text(" ")] }, "rm -rf build"],
  ["its file", { locations: [{ path: "/p/a" }] }, "/p/a"],
  ["a terminal that printed nothing", { content: [{ type: "terminal", command: "make", output: "" }] as ToolContent[] }, "make"],
  ["no call", null, "make"],
])("nothing beside a subject that says it: %s", (_, change, subject) => {
  expect(isNothingBeside(besidesSubject(change === null ? null : call(change), subject))).toBe(true);
});

test("what is said beside the command, the file or the address is shown", () => {
  expect(besidesSubject(call({ input: { command: "make", timeout: 60, workdir: "/p" } }), "make").given).toEqual({ timeout: 60, workdir: "/p" });
  expect(besidesSubject(call({ input: { file_path: "/p/a", content: "words" } }), "/p/a").given).toEqual({ content: "words" });
  expect(besidesSubject(call({ input: [1, 2] }), "").given).toEqual([1, 2]);
});

test("what was only shown of a call counts as what it is given", () => {
  const content = [text('{"command":"rm -rf build","timeout":60}')];
  expect(besidesSubject(call({ content }), "rm -rf build")).toEqual({ given: { timeout: 60 }, content: [], locations: [] });
  // Unless that is known: then it is shown as what it is.
  expect(besidesSubject(call({ content, input: { command: "make" } }), "make")).toEqual({ given: null, content, locations: [] });
  expect(besidesSubject(call({ content: [text("{not json")] }), "").content).toEqual([text("{not json")]);
});

test("changes of files and places in them are shown", () => {
  const known = call({ content: [diff], locations: [{ path: "/p/a" }, { path: "/p/b", line: 3 }], input: { file_path: "/p/a", old_string: "a" } });
  expect(besidesSubject(known, "/p/b")).toEqual({ given: { file_path: "/p/a", old_string: "a" }, content: [diff], locations: [{ path: "/p/b", line: 3 }] });
});
