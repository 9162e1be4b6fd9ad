// What the line below the composer shows, case by case.
import { expect, test } from "vitest";

import type { SessionContext } from "../../state/context";
import { absolutePath, baseName } from "../../state/context";
import type { Footer } from "./footer";
import { fileHref, footerOf } from "./footer";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";

/** Facts as `name: path@entry path@entry`. */
function context(sets: Record<string, string[]>, ...facts: string[]): SessionContext {
  const proofs = facts.map((fact) => {
    const [name = "", values = ""] = fact.split(": ");
    const proved = values.split(" ").map((value) => {
      const [path = "", entry = "0"] = value.split("@");
      return { value: path, turn: 1, tool: 1, entry: Number(entry) };
    });
    return [name, { count: proved.length, values: proved }] as const;
  });
  return { sets, proofs: Object.fromEntries(proofs) };
}

function told(footer: Footer | null): string {
  if (footer === null) {
    return "nothing";
  }
  const { marked, more, automatic, applet } = footer;
  return [marked.join(" "), more > 0 ? `+${more}` : "", automatic.map((file) => `(${file})`).join(" "), applet === null ? "" : `[${applet.slug}] ${applet.href}`]
    .filter((part) => part !== "")
    .join(" ");
}

test.each<[string, SessionContext | null, string]>([
  ["no word of the server yet", null, "nothing"],
  ["nothing", context({}), "nothing"],
  ["only other sets", context({ ports: ["80"], tickets: ["A-1"] }, "commands: ls@3"), "nothing"],
  ["marks in their order", context({ files: ["/w/b", "/w/a"] }), "/w/b /w/a"],
  ["a mark within the directory", context({ files: ["src/a"] }), "/w/src/a"],
  ["five and a number", context({ files: ["/1", "/2", "/3", "/4", "/5", "/6", "/7"] }), "/1 /2 /3 /4 /5 +2"],
  ["five marks leave no room", context({ files: ["/1", "/2", "/3", "/4", "/5"] }, "filesEdited: /6@9"), "/1 /2 /3 /4 /5"],
  ["the newest edits fill", context({ files: ["/1", "/2", "/3"] }, "filesEdited: /a@1 /b@3 /c@2"), "/1 /2 /3 (/b) (/c)"],
  ["what is made is edited too", context({}, "filesEdited: /a@1", "filesCreated: /b@2"), "(/b) (/a)"],
  ["a file once, by its newest proof", context({}, "filesCreated: /a@1 /b@2", "filesEdited: /a@3"), "(/a) (/b)"],
  ["what is marked is not automatic too", context({ files: ["/a", "b"] }, "filesEdited: /a@1 /w/b@2 /c@3"), "/a /w/b (/c)"],
  ["marks beyond the fifth neither", context({ files: ["/1", "/2", "/3", "/4", "/5", "/a"] }, "filesEdited: /a@1"), "/1 /2 /3 /4 /5 +1"],
  ["reads never", context({}, "filesRead: /a@1 /b@2"), "nothing"],
  ["deleted since", context({}, "filesEdited: /a@1 /b@2", "filesDeleted: /a@5"), "(/b)"],
  ["deleted and made anew", context({}, "filesEdited: /a@9", "filesDeleted: /a@5"), "(/a)"],
  ["all deleted", context({}, "filesCreated: /a@1", "filesDeleted: /a@2"), "nothing"],
  ["an applet alone", context({ applet: ["git-diff"] }), `[git-diff] /s/${SESSION}?applet=git-diff`],
  [
    "an applet with what it was opened with",
    context({ files: ["/a"], applet: ["text-editor", "path=/a b&c", "q=x=y", "bare"] }),
    `/a [text-editor] /s/${SESSION}?applet=text-editor&path=%2Fa+b%26c&q=x%3Dy&bare=`,
  ],
])("%s", (_, given, expected) => {
  expect(told(footerOf(given, SESSION, "/w"))).toBe(expected);
});

test.each([
  ["/home/ada/notes.md", "notes.md"],
  ["C:\\Users\\ada\\notes.md", "notes.md"],
  ["/home/ada/", "ada"],
  ["notes.md", "notes.md"],
  ["/", "/"],
])("the last name of %s", (path, name) => {
  expect(baseName(path)).toBe(name);
});

test("paths go into addresses whole", () => {
  expect(fileHref(SESSION, "/a b/&?#<x>")).toBe(`/s/${SESSION}?file=%2Fa%20b%2F%26%3F%23%3Cx%3E`);
  expect(absolutePath("a", "/")).toBe("/a");
});
