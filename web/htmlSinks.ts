// Stops the build when anything in the page would hand text to the browser as HTML or as script.
//
// The server's policy (crates/server/src/web_assets.rs) forbids that, so such code throws in a reader's browser and
// nowhere else: not in Node, and not where a package has one build for browsers and another for the rest. So the built
// page itself is looked through, each module as it was left after what nobody uses was taken out.
import type { Plugin } from "vite";

const SINKS: readonly RegExp[] = [
  /\.(?:inner|outer)HTML\s*\+?=(?!=)/,
  /\.srcdoc\s*\+?=(?!=)/,
  /\binsertAdjacentHTML\b/,
  /\bcreateContextualFragment\b/,
  /\bparseFromString\b/,
  /\b(?:set|parse)HTMLUnsafe\b/,
  /\bdocument\.write(?:ln)?\b/,
  /\bexecCommand\b/,
  /\bnew Function\b/,
  /(?<![\w$.])eval\(/,
];

/** Modules with such code that the page never runs, and why not. */
const NEVER_RUN: readonly { readonly module: RegExp; readonly reason: string }[] = [
  { module: /\/node_modules\/react-dom\/cjs\/react-dom-client\.(?:production|development)\.js$/, reason: "only for dangerouslySetInnerHTML, which the lint forbids, and for script elements, which nothing draws" },
];

export interface HtmlSink {
  module: string;
  code: string;
}

/** Where modules, by their paths, hand text over as HTML or as script. */
export function htmlSinksIn(modules: Iterable<readonly [path: string, code: string]>): HtmlSink[] {
  const found: HtmlSink[] = [];
  for (const [path, code] of modules) {
    if (NEVER_RUN.some(({ module }) => module.test(path))) {
      continue;
    }
    for (const sink of SINKS) {
      const at = sink.exec(code);
      if (at !== null) {
        found.push({ module: path, code: code.slice(Math.max(0, at.index - 60), at.index + at[0].length + 60) });
      }
    }
  }
  return found;
}

export function forbidHtmlSinks(): Plugin {
  return {
    name: "forbid-html-sinks",
    apply: "build",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") {
          continue;
        }
        const modules = Object.entries(chunk.modules).flatMap(([path, { code }]) => (code === null ? [] : [[path, code] as const]));
        // Some chunks tell of no module; then what is in them is looked through as it is.
        for (const { module, code } of htmlSinksIn(modules.length > 0 ? modules : [[chunk.fileName, chunk.code]])) {
          this.error(`${module} hands text to the browser as HTML or script, which the page's policy forbids: …${code}…\nTake another build of the package (resolve.alias in vite.config.ts).`);
        }
      }
    },
  };
}
