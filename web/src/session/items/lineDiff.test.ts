// Differences: what is told gives back both texts, whatever they are.
import { expect, test } from "vitest";

import type { Diff } from "./lineDiff";
import { lineDiff } from "./lineDiff";

function told({ lines }: Diff): string[] {
  return lines.map((line) => (line.kind === "gap" ? `… ${line.count}` : `${{ same: " ", added: "+", removed: "-" }[line.kind]}${line.text}`));
}

test("a change stands among a few unchanged lines", () => {
  const before = Array.from({ length: 20 }, (_, index) => `l${index}`);
  const after = before.with(10, "changed");
  expect(told(lineDiff(before.join("\n"), after.join("\n")))).toEqual(["… 7", " l7", " l8", " l9", "-l10", "+changed", " l11", " l12", " l13", "… 6"]);
});

test("a new file is all added, an emptied one all removed, and the same text nothing", () => {
  expect(told(lineDiff("", "a\nb\n"))).toEqual(["+a", "+b"]);
  expect(told(lineDiff("a\n", ""))).toEqual(["-a"]);
  expect(lineDiff("a\nb", "a\nb")).toEqual({ lines: [{ kind: "gap", count: 2 }], added: 0, removed: 0 });
});

test("both texts can be read from the difference", () => {
  const words = ["a", "b", "c", ""];
  const make = (seed: number) => Array.from({ length: 6 }, (_, index) => words[(seed >> (index * 2)) & 3]).join("\n") + "\nend";
  for (let seed = 0; seed < 4096; seed += 37) {
    const [before, after] = [make(seed), make((seed * 2654435761) >>> 12)];
    const { lines } = lineDiff(before, after);
    if (lines.some(({ kind }) => kind === "gap")) {
      continue;
    }
    const side = (without: "added" | "removed") =>
      lines.flatMap((line) => (line.kind === without || line.kind === "gap" ? [] : [line.text])).join("\n");
    expect([side("added"), side("removed")]).toEqual([before, after]);
  }
});

test("texts too far apart are told at once", () => {
  const many = (name: string) => Array.from({ length: 2_000 }, (_, index) => `${name}${index}`).join("\n");
  const { added, removed } = lineDiff(many("a"), many("b"));
  expect([added, removed]).toEqual([2_000, 2_000]);
});
