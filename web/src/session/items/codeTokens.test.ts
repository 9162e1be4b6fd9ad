// Coloured code is the code, letter for letter, in every language that is promised.
import { expect, test } from "vitest";

import type { CodeLanguage } from "./codeLanguages";
import { codeLanguage } from "./codeLanguages";
import { codeTokens } from "./codeTokens";

const SAMPLES: Record<CodeLanguage, [code: string, kind: string, piece: string]> = {
  bash: ["if [ -f x ]; then\n  echo \"$HOME\" # home\nfi", "comment", "# home"],
  c: ["int main(void) { return 0; }", "keyword", "return"],
  cpp: ["auto f = [](int x) { return x; };", "keyword", "return"],
  css: ["a { color: red; }", "constant", "red"],
  diff: ["-old\n+new", "inserted", "+new"],
  go: ["func main() { return }", "keyword", "return"],
  html: ["<b class=\"x\">1</b><script>let y = 1;</script>", "keyword", "let"],
  java: ["class A { int x = 1; }", "constant", "1"],
  javascript: ["const x = () => null; // so", "comment", "// so"],
  json: ["{\"a\": [1, true]}", "constant", "true"],
  markdown: ["# One\n\n`two`", "string", "`two`"],
  python: ["def f(x):\n\treturn \"y\"", "keyword", "return"],
  rust: ["fn main() {\n    let x = \"y\";\n}\n", "keyword", "fn"],
  sql: ["SELECT 1 FROM t;", "keyword", "SELECT"],
  toml: ["[a]\nb = true", "constant", "true"],
  tsx: ["const a = <b c={1}>d</b>;", "keyword", "const"],
  typescript: ["type A = Record<string, number>;", "keyword", "type"],
  yaml: ["a: true # so", "comment", "# so"],
};

test.each(Object.entries(SAMPLES) as [CodeLanguage, [string, string, string]][])("%s", async (language, [code, kind, piece]) => {
  const tokens = (await codeTokens(code, language)) ?? [];
  expect(tokens.map(([, text]) => text).join("")).toBe(code);
  expect(tokens.find(([of, text]) => of === kind && text.trim() === piece)).toBeTruthy();
});

test("ends of lines that would be lost leave the code plain", async () => {
  expect(await codeTokens("let x;\r\nlet y;", "javascript")).toBeNull();
});

test.each([
  ["RS", "rust"],
  ["c++", "cpp"],
  ["yml", "yaml"],
  ["constructor", null],
  ["mermaid", null],
  [null, null],
])("%s is %s", (name, language) => {
  expect(codeLanguage(name)).toBe(language);
});
