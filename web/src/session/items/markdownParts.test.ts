// Tests that long and deep Markdown is cut into parts that a parser can bear, and that nothing of it is lost.
import { expect, test } from "vitest";

import { partsOf, shownOf } from "./markdownParts";

const kinds = (text: string) => partsOf(text).map((part) => (part.kind === "plain" ? `${part.kind} ${part.why}` : part.kind));
const joined = (text: string) => partsOf(text).map((part) => part.text).join("");

test("what people write is one part, as it was written", () => {
  const text = "# One\n\n- a\n\n  still a\n- b\n\n> quote\n\n```rust\nfn main() {}\n\n```\n\n|a|b|\n|-|-|\n|1|2|\n";
  expect(partsOf(text)).toMatchObject([{ kind: "markdown", text }]);
  expect(partsOf("")).toEqual([]);
});

test("a long answer is cut between paragraphs, and never within a list or a fence", () => {
  const section = `## Part\n\n${"Some words. ".repeat(60)}\n\n- a\n\n  more of a\n\n\`\`\`\ncode\n\n# no heading\n\`\`\`\n\n`;
  const text = section.repeat(100);
  const parts = partsOf(text);
  expect(parts.length).toBeGreaterThan(20);
  expect(joined(text)).toBe(text);
  for (const part of parts) {
    expect(part.kind).toBe("markdown");
    expect(part.text).not.toMatch(/^\s/);
    expect((part.text.match(/^```/gm) ?? []).length % 2).toBe(0);
  }
});

test("earlier parts stay as they are while the text grows", () => {
  const text = `${"words and **more** words\n\n".repeat(300)}| a |\n|---|\n${"| 1 |\n".repeat(3_000)}`;
  const whole = partsOf(text);
  for (let length = 0; length < text.length; length += 997) {
    const some = partsOf(text.slice(0, length)).slice(0, -1);
    expect(some).toEqual(whole.slice(0, some.length));
  }
});

test.each([
  ["quotes", ">".repeat(5_000)],
  ["quotes apart", "> ".repeat(5_000)],
  ["lists on a line", "- ".repeat(5_000)],
  ["numbered lists on a line", "1. ".repeat(5_000)],
  ["lists by indents", Array.from({ length: 200 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n")],
  ["emphasis", "*a _b ".repeat(3_000)],
  ["brackets", "[".repeat(3_000)],
])("%s within one another stay plain, and what is around them does not", (_, text) => {
  expect(kinds(`before\n\n${text}\n\nafter **all**`)).toEqual(["markdown", "plain nested", "markdown"]);
});

test.each([
  ["a line", "x".repeat(1_000_000)],
  ["a paragraph", "a\n".repeat(1_000_000)],
  ["a gap", `a${"\n".repeat(1_000_000)}b`],
  ["a table", `|a|b|\n|-|-|\n${"|1|2|\n".repeat(5_000)}`],
])("%s that is too long stays plain, and what is around it does not", (_, text) => {
  expect(kinds(`before\n\n${text}\n\nafter`)).toEqual(["markdown", "plain long", "markdown"]);
  expect(joined(text)).toBe(text);
});

test("a long fence is code, closed or not", () => {
  const code = "let a = 1;\n\n".repeat(2_000);
  expect(partsOf(`before\n\n\`\`\`rust\n${code}\`\`\`\n\nafter`)).toMatchObject([
    { kind: "markdown", text: "before\n\n" },
    { kind: "code", language: "rust", text: code.slice(0, -1) },
    { kind: "markdown", text: "\nafter" },
  ]);
  expect(partsOf(`  ~~~~\n${code.replaceAll("let", "  let")}`)).toMatchObject([{ kind: "code", language: null, text: code.slice(0, -1) }]);
});

test("the beginning and the end are shown at once, the rest as it is asked for", () => {
  const text = Array.from({ length: 40_000 }, (_, nth) => `Paragraph ${nth}.\n\n`).join("");
  const parts = partsOf(text);
  const { beginning, left, end } = shownOf(parts, 1);
  expect(beginning[0]?.text).toContain("Paragraph 0.");
  expect(end.at(-1)?.text).toContain("Paragraph 39999.");
  expect([...beginning, ...end].reduce((sum, part) => sum + part.text.length, 0)).toBeLessThan(100_000);
  expect(left).toBeGreaterThan(500_000);
  expect(shownOf(parts, 2).left).toBeLessThan(left);
  expect(shownOf(parts, 1_000)).toMatchObject({ left: 0, end: [] });
});
