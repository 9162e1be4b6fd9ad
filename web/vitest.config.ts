// Unit tests lie beside the files they test; the browser journeys are run apart, by `npm run journeys`.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  test: {
    // Only for what hangs: how long something takes says nothing on a busy machine.
    testTimeout: 60_000,
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    unstubGlobals: true,
  },
});
