import { describe, expect, it } from "vitest";

import { parted } from "./parted";

describe("parted", () => {
  it("puts headings and fences that are glued to words on lines of their own", () => {
    for (const [text, expected] of [
      ["Done.## Next\nmore", "Done.\n\n## Next\nmore"],
      ["All of it# Summary", "All of it# Summary"],
      ["All of it.# Summary", "All of it.\n\n# Summary"],
      ["one### Two words### Three", "one\n\n### Two words\n\n### Three"],
      ["**bold**## Next", "**bold**\n\n## Next"],
      ["Run this:```sh\nls\n```\nand on", "Run this:\n```sh\nls\n```\nand on"],
      ["Like so ```\nls\n```", "Like so \n```\nls\n```"],
      ["Look:~~~\nls\n~~~", "Look:\n~~~\nls\n~~~"],
      ["```\na\n```\nThen.## Next", "```\na\n```\nThen.\n\n## Next"],
    ]) {
      expect(parted(text ?? "")).toBe(expected);
    }
  });

  it("leaves alone what is well written, code, tables, and words that only look like it", () => {
    for (const text of [
      "# One\n\n## Two\n\n```sh\nls\n```\n",
      "```md\nDone.## Next\nlook:```js\n```\n",
      "~~~\nDone.## Next\n```\nDone.## Next\n~~~",
      "write `x.## y` there",
      "write ``a ` b.## y`` there",
      "| a.## b | c |\n|---|---|",
      "    Done.## Next",
      "C# is, \\## is not, and see https://x.example/a#b",
      "the sign ```inline``` ends\nhere",
      "it ends with ```",
      "it has ```\nno end",
      "issue #5, # alone",
      "- ```js\n  a.## b\n  ```",
    ]) {
      expect(parted(text)).toBe(text);
    }
  });

  it("is done in time with whatever comes", () => {
    for (const text of ["`".repeat(200_000), "a.# b".repeat(40_000), "#".repeat(200_000), "` ``".repeat(2_000), "x ```\n".repeat(30_000), "`a` ``b`` c.## d ".repeat(100_000)]) {
      expect(parted(text).replaceAll("\n", "")).toBe(text.replaceAll("\n", ""));
    }
  });
});
