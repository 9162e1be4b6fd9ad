// Unit tests lie beside the files they test; the browser journeys are run apart, by `npm run journeys`.
//
// Packages are resolved as they are for the page, by the same aliases and conditions: what only their builds for browsers
// do is seen here too.
import { defaultClientConditions, mergeConfig } from "vite";
import { defineConfig } from "vitest/config";

import page from "./vite.config.ts";

export default mergeConfig(
  page,
  defineConfig({
    resolve: { conditions: [...defaultClientConditions] },
    test: {
      // Only for what hangs: how long something takes says nothing on a busy machine.
      testTimeout: 60_000,
      environment: "happy-dom",
      include: ["src/**/*.test.{ts,tsx}", "*.test.ts"],
      setupFiles: ["./pagePolicy.ts"],
      // Left to Node, a package would be taken in its build for servers.
      server: { deps: { inline: [/node_modules\/(?!vitest|@vitest|@testing-library|happy-dom)/] } },
      restoreMocks: true,
      unstubGlobals: true,
    },
  }),
);
