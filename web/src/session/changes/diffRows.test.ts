// Numbers, pairs and quotes of the lines of a diff.
import { expect, test } from "vitest";

import type { DiffHunk } from "../../wire/names";
import { numbered, placeOfLines, quoted, splitRows } from "./diffRows";

const HUNKS: DiffHunk[] = [
  {
    oldStart: 4,
    newStart: 4,
    lines: [
      { kind: "same", text: "a" },
      { kind: "removed", text: "b" },
      { kind: "removed", text: "c" },
      { kind: "added", text: "B" },
      { kind: "same", text: "d" },
    ],
  },
  { oldStart: 20, newStart: 19, lines: [{ kind: "added", text: "new" }] },
];

const told = (line: { oldNumber: number | null; newNumber: number | null; text: string } | null) => (line === null ? "·" : `${line.oldNumber ?? ""}/${line.newNumber ?? ""} ${line.text}`);

test("lines are counted on both sides", () => {
  expect(numbered(HUNKS).map(told)).toEqual(["4/4 a", "5/ b", "6/ c", "/5 B", "7/6 d", "/19 new"]);
});

test("what came stands beside what went, and hunks stay apart", () => {
  expect(splitRows(numbered(HUNKS)).map(({ old, new: now }) => `${told(old)} | ${told(now)}`)).toEqual([
    "4/4 a | 4/4 a",
    "5/ b | /5 B",
    "6/ c | ·",
    "7/6 d | 7/6 d",
    "· | /19 new",
  ]);
  const apart: DiffHunk[] = [{ oldStart: 1, newStart: 0, lines: [{ kind: "removed", text: "x" }] }, { oldStart: 9, newStart: 8, lines: [{ kind: "added", text: "y" }] }];
  expect(splitRows(numbered(apart)).map(({ old, new: now }) => `${told(old)} | ${told(now)}`)).toEqual(["1/ x | ·", "· | /8 y"]);
});

test("a comment quotes the lines with where they are", () => {
  const lines = numbered(HUNKS);
  expect(quoted("src/a.rs", lines.slice(3, 4), " why? ")).toBe("src/a.rs:5\n> B\nwhy?");
  expect(quoted("src/a.rs", lines.slice(1, 5), "both")).toBe("src/a.rs:5-6\n> -b\n> -c\n> +B\n>  d\nboth");
  expect(placeOfLines(lines.slice(1, 3))).toBe("5-6 (removed)");
  expect(quoted("a", lines.slice(5), "")).toBe("a:19\n> new");
});
