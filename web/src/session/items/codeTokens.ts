// Code cut into pieces that each have one colour. Runs in the worker only, so that no grammar is part of the page.
//
// Invariant: the pieces put together are the code, letter for letter; where they would not be, there are none.
import type { HighlighterCore, LanguageRegistration, ThemedToken } from "shiki/core";
import { createCssVariablesTheme, createHighlighterCore } from "shiki/core";
// Regular expressions of the browser itself: the other engine is compiled code, which the page's policy forbids.
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

import type { CodeLanguage } from "./codeLanguages";

/** What the piece is, null for nothing in particular, and its letters. */
export type CodeToken = readonly [kind: string | null, text: string];

const PREFIX = "--code-";
const THEME = "page";

const GRAMMARS: Record<CodeLanguage, () => Promise<{ default: LanguageRegistration[] }>> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

let highlighter: Promise<HighlighterCore> | null = null;

export async function codeTokens(code: string, language: CodeLanguage): Promise<readonly CodeToken[] | null> {
  highlighter ??= createHighlighterCore({
    themes: [createCssVariablesTheme({ name: THEME, variablePrefix: PREFIX, fontStyle: false })],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const [{ codeToTokensBase, loadLanguage }, { default: grammar }] = await Promise.all([highlighter, GRAMMARS[language]()]);
  await loadLanguage(grammar);
  // Half a line's colours would be wrong ones; whoever asked has a patience of their own.
  const lines = codeToTokensBase(code, { lang: language, theme: THEME, tokenizeTimeLimit: 0 });
  const tokens = joined(lines);
  return tokens.map(([, text]) => text).join("") === code ? tokens : null;
}

/** Neighbours of one kind are one piece; the ends of lines belong to the piece before them. */
function joined(lines: readonly (readonly ThemedToken[])[]): CodeToken[] {
  const tokens: [string | null, string][] = [];
  const add = (kind: string | null, text: string) => {
    const last = tokens.at(-1);
    if (last !== undefined && (last[0] === kind || text.trim() === "")) {
      last[1] += text;
    } else if (text !== "") {
      tokens.push([kind, text]);
    }
  };
  lines.forEach((line, index) => {
    if (index > 0) {
      add(null, "\n");
    }
    for (const { color, content } of line) {
      add(kindOf(color), content);
    }
  });
  return tokens;
}

/** The theme's colours are names of variables; the page's style has a class for each. */
function kindOf(color: string | undefined): string | null {
  return /^var\(--code-token-([a-z-]+)\)$/.exec(color ?? "")?.[1] ?? null;
}
