// Texts that a parser of Markdown, a pattern or a browser's layout may choke on. Each begins with `begin`, so that it can
// be told whether it is drawn at all.
import { characterEntities } from "character-entities";

const times = (count, text) => text.repeat(count);

export const NASTY_TEXTS = {
  "every named character reference": `begin ${Object.keys(characterEntities).map((name) => `&${name};`).join(" ")} &nosuch; AT&T`,
  "five thousand quotes": `begin\n\n${times(5_000, ">")} deep`,
  "five thousand quotes apart": `begin\n\n${times(5_000, "> ")}deep`,
  "lists in lists on a line": `begin\n\n${times(5_000, "- ")}deep\n\n${times(5_000, "1. ")}deep`,
  "lists in lists by indents": `begin\n\n${Array.from({ length: 800 }, (_, depth) => `${times(depth, "  ")}- item ${depth}`).join("\n")}`,
  "combining marks": `begin a${times(300_000, "\u0301")} end`,
  "combining marks of many kinds": `begin a${times(100_000, "\u0301\u0316\u0488")} end`,
  "one line": `begin ${times(1_000_000, "x")}`,
  "one line of words": `begin ${times(200_000, "word ")}`,
  "a million lines": `begin\n${times(1_000_000, "a\n")}`,
  "a million empty lines": `begin${times(1_000_000, "\n")}end`,
  "a million carriage returns": `begin${times(1_000_000, "\r")}end`,
  "a huge table": `begin\n\n| a | b | c |\n|---|---|---|\n${times(50_000, "| 1 | **2** | `3` |\n")}`,
  "a long list": `begin\n\n${times(20_000, "1. an **item** of `many`\n")}`,
  "a wide table": `begin\n\n|${times(20_000, "a|")}\n|${times(20_000, "-|")}\n|${times(20_000, "b|")}`,
  "nested emphasis": `begin ${times(5_000, "*a _b ")}${times(5_000, " b_ a*")}`,
  "some nested emphasis": `begin ${times(290, "*a _b ")}${times(290, " b_ a*")}`,
  "emphasis that never ends": `begin ${times(30_000, "**a *b ")}`,
  brackets: `begin ${times(50_000, "[")} ${times(50_000, "](")}`,
  "links in links": `begin ${times(5_000, "[a")}${times(5_000, "](b)")} ${times(5_000, "![")}`,
  backticks: `begin ${Array.from({ length: 600 }, (_, length) => times(length + 1, "`")).join(" a ")}`,
  "a fence of backticks": `begin\n\n${times(300_000, "`")}\ncode\n${times(299_999, "`")}`,
  "a fence that never ends": `begin\n\n\`\`\`rust\n${times(60_000, "fn main() {}\n")}`,
  "a short fence that never ends": "begin\n\n```\nfn main() {}",
  "many fences": `begin\n\n${times(10_000, "```\ncode\n```\n\n")}`,
  "references and notes": `begin\n\n${times(20_000, "[^1] [a][b] ")}\n\n${times(5_000, "[^1]: note\n")}`,
  addresses: `begin ${times(20_000, "a@b.c www.x.y http://z.w/ ")}`,
  html: `begin ${times(20_000, "<div><!-- <a href='")}`,
  "directions and controls": `begin \u202Eabc\u202C \u2066x\u2069 \u200F\u200E \u061C ${times(20_000, "aא1ب")} \u0000\u0007\u001B[2J\u009B\uFEFF\u{E0041}`,
  "hidden characters": `begin ${times(300_000, "\u200B")}${times(100_000, "\u200D\u200C")}`,
  "lone surrogates, escaped": `begin \\ud800 \\udfff &#xD800; &#xDFFF; &#0; &#x110000; ${times(10_000, "&#xD83D;")} \uFFFD`,
  emoji: `begin ${times(60_000, "👩\u200D👩\u200D👧")}${times(20_000, "🇩")}`,
  "escapes and dollars": `begin ${times(100_000, "\\")}${times(50_000, "$a$$")}`,
};
