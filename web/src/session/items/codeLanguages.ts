// The languages whose code is coloured, by all the names that people write after a fence.

export type CodeLanguage =
  | "bash" | "c" | "cpp" | "css" | "diff" | "go" | "html" | "java" | "javascript" | "json" | "markdown" | "python" | "rust" | "sql"
  | "toml" | "tsx" | "typescript" | "yaml";

const NAMES: Record<CodeLanguage, string> = {
  bash: "bash sh shell zsh shellscript",
  c: "c h",
  cpp: "cpp c++ cc cxx hpp",
  css: "css",
  diff: "diff patch",
  go: "go golang",
  html: "html htm",
  java: "java",
  javascript: "javascript js mjs cjs jsx",
  json: "json jsonc",
  markdown: "markdown md",
  python: "python py python3",
  rust: "rust rs",
  sql: "sql",
  toml: "toml",
  tsx: "tsx",
  typescript: "typescript ts mts cts",
  yaml: "yaml yml",
};

const LANGUAGES = new Map(
  (Object.entries(NAMES) as [CodeLanguage, string][]).flatMap(([language, names]) => names.split(" ").map((name) => [name, language] as const)),
);

/** Null where the code stays plain. */
export function codeLanguage(name: string | null): CodeLanguage | null {
  return name === null ? null : (LANGUAGES.get(name.toLowerCase()) ?? null);
}
