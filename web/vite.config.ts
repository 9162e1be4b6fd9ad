// How the page is built and how its tests run. The result needs no inline script or style: the server's
// Content-Security-Policy allows neither.
import { createRequire } from "node:module";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

import { forbidHtmlSinks } from "./htmlSinks.ts";

const { resolve } = createRequire(import.meta.url);

export default defineConfig({
  plugins: [react(), tailwindcss(), forbidHtmlSinks()],
  resolve: {
    alias: {
      // Its build for browsers has the browser parse HTML to learn what `&amp;` means; this one has a table.
      "decode-named-character-reference": resolve("decode-named-character-reference"),
    },
  },
  // What runs beside the page loads its parts as it needs them, like the page.
  worker: { format: "es", plugins: () => [forbidHtmlSinks()] },
  build: {
    target: "es2022",
    // Nothing is turned into a data: address, so that every file has a hashed name of its own.
    assetsInlineLimit: 0,
    // Every browser that reads es2022 preloads modules by itself.
    modulePreload: { polyfill: false },
    // build.rs points outside this folder, into cargo's own.
    emptyOutDir: true,
  },
});
