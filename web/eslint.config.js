// The page's lint: the usual rules, and the direction of imports
//   wire ← api ← state ← app ← titles, remembered, tags ← feature folders ← frame,  ui ← titles, tags, feature folders,  features never one another.
import js from "@eslint/js";
import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

const FEATURES = ["session", "session-list", "search", "picker", "sign-in", "keys", "usage", "settings"];
/** Parts that several features show; they know no feature and not one another. */
const SHARED = ["titles", "remembered", "tags"];

/** Files of `folder` may import from themselves and from `allowed` alone; the root's files may import all. */
function layer(folder, allowed, reason) {
  const others = ["wire", "api", "state", "app", "ui", ...SHARED, "frame", ...FEATURES].filter((name) => name !== folder && !allowed.includes(name));
  return {
    files: [`src/${folder}/**`],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { regex: `^(\\.\\./)+(${others.join("|")})(/|$)`, message: reason },
            { regex: "^(\\.\\./)+[^/]+$", message: "The root wires the parts together; no part knows the root." },
          ],
        },
      ],
    },
  };
}

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "src/wire/api.d.ts"] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  reactHooks.configs.flat["recommended-latest"],
  {
    // TypeScript checks the names in its own files; these are what the plain scripts use.
    files: ["**/*.mjs", "**/*.js"],
    languageOptions: {
      globals: Object.fromEntries(
        ["console", "document", "fetch", "getComputedStyle", "navigator", "NotificationEvent", "performance", "process", "self", "setTimeout", "clearTimeout", "URL", "window"].map((name) => [name, "readonly"]),
      ),
    },
  },
  {
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "off",
      // Speaks of the React compiler alone, which this page is not built with.
      "react-hooks/incompatible-library": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
      eqeqeq: "error",
      "no-console": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Everything is rendered as text." },
        { property: "outerHTML", message: "Everything is rendered as text." },
      ],
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Everything is rendered as text." },
      ],
      "no-warning-comments": ["error", { terms: ["todo", "fixme"], location: "anywhere" }],
      "max-lines": ["error", 400],
    },
  },
  layer("wire", [], "wire/ is what the server says and knows nothing of the page."),
  layer("api", ["wire"], "api/ knows wire/ alone."),
  layer("state", ["wire", "api"], "state/ knows wire/ and api/ alone."),
  layer("ui", [], "ui/ has no domain words."),
  layer("app", ["wire", "api", "state", "ui"], "app/ hands the state to the page's parts and knows none of them."),
  ...SHARED.map((name) => layer(name, ["wire", "api", "state", "app", "ui"], `${name}/ is a part of features and knows none of them.`)),
  ...FEATURES.map((name) => layer(name, ["wire", "api", "state", "app", "ui", ...SHARED], "Features do not import one another.")),
  {
    // State is pure: the same reducers must agree with the server's on fixtures/.
    files: ["src/state/**"],
    ignores: ["**/*.test.ts"],
    rules: {
      "no-restricted-globals": ["error", "fetch", "WebSocket", "window", "document", "localStorage"],
    },
  },
  {
    // Served as they are, beside the page.
    files: ["public/**"],
    languageOptions: { globals: { self: "readonly", localStorage: "readonly", matchMedia: "readonly" } },
  },
  { files: ["journeys/**", "*.mjs"], rules: { "no-console": "off" } },
);
