// Paths as they are shown: from the session's directory on, and told apart by no more than they need.
import { expect, test } from "vitest";

import { distinctTail, lastPath, relativePath, relativeWords } from "./paths";

test.each([
  ["/home/ada/loom", ["/srv/mill"], "loom"],
  ["/home/ada/loom", ["/srv/loom"], "ada/loom"],
  ["/srv/loom", ["/home/ada/loom"], "/srv/loom"],
  ["/srv/loom", ["/srv/broadloom"], "loom"],
  ["/loom", ["/home/loom"], "/loom"],
])("%s among %j is told by its end: %s", (path, others, tail) => {
  expect(distinctTail(path, [path, ...others])).toBe(tail);
});

test.each([
  ["/home/ada/loom/src/a.rs", "/home/ada/loom", "src/a.rs"],
  ["/home/ada/loom/src/a.rs", "/home/ada/loom/", "src/a.rs"],
  ["/home/ada/loom-2/a.rs", "/home/ada/loom", "/home/ada/loom-2/a.rs"],
  ["/home/ada/loom", "/home/ada/loom", "/home/ada/loom"],
  ["/etc/hosts", "/", "/etc/hosts"],
  ["/etc/hosts", "", "/etc/hosts"],
])("%s in %s is %s", (path, directory, shown) => {
  expect(relativePath(path, directory)).toBe(shown);
});

test.each([
  ["Edit /w/a.rs", "Edit a.rs"],
  ["Compare `/w/a.rs` with (/w/b/c.rs)", "Compare `a.rs` with (b/c.rs)"],
  ["/w/a.rs", "a.rs"],
  ["Read /tmp/w/a.rs", "Read /tmp/w/a.rs"],
  ["List /w/ and /w", "List /w/ and /w"],
])("in /w, “%s” reads “%s”", (words, shown) => {
  expect(relativeWords(words, "/w")).toBe(shown);
});

test.each([
  ["Edit src/loom/warp.rs", ["Edit ", "src/loom/", "warp.rs"]],
  ["/etc/hosts", ["", "/etc/", "hosts"]],
  ["/hosts", ["", "/", "hosts"]],
  ["see a//b/c", ["see a/", "/b/", "c"]],
  ["Read a/b and c/d", ["Read a/b and ", "c/", "d"]],
  ["src/", null],
  ["a/b c", null],
  ["warp.rs", null],
  ["", null],
])("the path at the end of %j", (words, parts) => {
  const path = lastPath(words);
  expect(path === null ? null : [path.before, path.directory, path.name]).toEqual(parts);
});

test("the path at the end of very long words is found in one pass", () => {
  // With a pass for every letter this would take hours.
  const long = "a".repeat(1_000_000);
  expect(lastPath(long)).toBeNull();
  expect(lastPath(`${long}/b`)?.directory).toHaveLength(1_000_001);
});
