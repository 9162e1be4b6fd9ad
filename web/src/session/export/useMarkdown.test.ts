import { expect, test } from "vitest";

import { fileName } from "./useMarkdown";

test("a file is named after the session, as far as every file system takes it", () => {
  expect(fileName("Fix the upload: retry/backoff")).toBe("Fix-the-upload-retry-backoff.md");
  expect(fileName("検索 を直す")).toBe("検索-を直す.md");
  expect(fileName("../../etc")).toBe("etc.md");
  expect(fileName(null)).toBe("session.md");
  expect(fileName("The loom", "tar")).toBe("The-loom.tar");
  expect(fileName("…")).toBe("session.md");
  expect(fileName("a".repeat(200))).toHaveLength(63);
});
