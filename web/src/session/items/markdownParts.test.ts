// Tests that long and deep Markdown is cut into parts that a parser can bear, and that nothing of it is lost.
import { expect, test } from "vitest";

import { partsOf } from "./markdownParts";
import { shownOf } from "./shownParts";

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
  const text = `${"words and **more** words\n\n".repeat(300)}| a |\n|---|\n${"| 1 |\n".repeat(3_000)}\n${"1. one\n".repeat(3_000)}`;
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
  ["a table's head", `|${"a|".repeat(5_000)}\n|${"-|".repeat(5_000)}\n|${"b|".repeat(5_000)}`],
  ["an item", `- ${"word ".repeat(20_000)}`],
])("%s that is too long stays plain, and what is around it does not", (_, text) => {
  expect(kinds(`before\n\n${text}\n\nafter`)).toEqual(["markdown", "plain long", "markdown"]);
  expect(joined(text)).toBe(text);
});

test("a long table is cut between rows, and each part has its head", () => {
  const head = "| a | b |\n|---|:--|\n";
  const rows = Array.from({ length: 5_000 }, (_, row) => `| ${row} | **two** \`three\` |\n`);
  const text = `before\n\nthe table:\n${head}${rows.join("")}\nafter`;
  const parts = partsOf(text);
  expect(parts.length).toBeGreaterThan(10);
  expect(new Set(parts.map(({ kind }) => kind))).toEqual(new Set(["markdown"]));
  expect(joined(text)).toBe(text);
  for (const part of parts.slice(1, -1)) {
    expect(part).toMatchObject({ parsed: head + part.text });
    expect(part.text).toMatch(/^\| \d/);
    expect(part.weight).toBeLessThan(4_000);
  }
  expect(parts.at(-1)).toMatchObject({ kind: "markdown", text: "after" });
});

test("what follows a table without a blank line is not taken for its rows", () => {
  const text = `| a |\n|---|\n${"| 1 |\n".repeat(100)}- an item\n${"- another\n".repeat(2_000)}`;
  expect(partsOf(text).flatMap((part) => (part.kind === "markdown" && part.parsed?.includes("---") ? [part] : []))).toEqual([]);
});

test("a long list is cut between its items, never within one, and counts on", () => {
  const item = (sign: string, nth: number) => `${sign} item ${nth}\n  - within\n\n  more of it\n`;
  const bullets = Array.from({ length: 2_000 }, (_, nth) => item("-", nth)).join("");
  expect(joined(bullets)).toBe(bullets);
  expect(partsOf(bullets).length).toBeGreaterThan(3);
  for (const part of partsOf(bullets)) {
    expect(part).toMatchObject({ kind: "markdown", text: expect.stringMatching(/^- item/) });
    expect(part).not.toHaveProperty("parsed");
  }
  const numbered = Array.from({ length: 3_000 }, (_, nth) => `${nth + 7}. item\n`).join("");
  expect(partsOf(numbered).every((part) => part.kind === "markdown" && part.parsed === undefined)).toBe(true);
  const allOnes = "1. item\n".repeat(3_000);
  const [first, second, ...others] = partsOf(allOnes);
  expect(second).toMatchObject({ kind: "markdown", parsed: expect.stringMatching(new RegExp(`^${1 + (first?.text.length ?? 0) / 8}\\. item\n1\\. item`)) });
  expect(others.length).toBeGreaterThan(0);
  expect(joined(allOnes)).toBe(allOnes);
});

test("many signs in many rows or items are not within one another", () => {
  const row = "| **a** _b_ [c] ~~d~~ |\n";
  expect(new Set(kinds(`| a |\n|---|\n${row.repeat(1_000)}`))).toEqual(new Set(["markdown"]));
  expect(new Set(kinds("- **a** _b_ [c] ~~d~~\n".repeat(1_000)))).toEqual(new Set(["markdown"]));
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
