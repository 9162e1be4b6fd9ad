// The agent's words: they read well, load nothing, run nothing, and say where their links lead.
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { shown } from "../../ui/shown";
import { AppletsContext } from "../applets/AppletsContext";
import { Markdown } from "./Markdown";

afterEach(cleanup);

function show(text: string, growing = false): HTMLElement {
  return render(<Markdown text={text} growing={growing} />).container;
}

test("HTML is shown as it was written", () => {
  const hostile = '<img src=x onerror=alert(1)> <b>bold</b>\n\n<script>alert(1)</script>\n\n<iframe src="https://evil.example"></iframe>\n\n<style>*{}</style>';
  const page = show(hostile);
  expect(page.querySelector("img, b, script, iframe, style, object, embed, form, link, meta, svg")).toBeNull();
  for (const part of ["<img src=x onerror=alert(1)>", "<b>bold</b>", "<script>alert(1)</script>", "<iframe", "<style>*{}</style>"]) {
    expect(page.textContent).toContain(part);
  }
});

test.each([
  "![pixel](https://evil.example/p.png?secret=1)",
  "![pixel][p]\n\n[p]: https://evil.example/p.png",
  "![data](data:image/png;base64,AAAA)",
  "[![both](https://evil.example/p.png)](https://evil.example/)",
])("no picture is loaded: %s", (text) => {
  const page = show(text);
  expect(page.querySelector("img, picture, source, video, audio, [src], [srcset], [style*=url]")).toBeNull();
  expect(page.textContent).toContain("not loaded");
});

test("a link tells where it leads and gives nothing away", () => {
  show("[your bank](https://evil.example/x?y=1)");
  const link = screen.getByRole("link", { name: "your bank (evil.example)" });
  expect(link.getAttribute("href")).toBe("https://evil.example/x?y=1");
  expect(link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
  expect(link.getAttribute("target")).toBe("_blank");
});

test("a link of an applet opens it beside the session, and is none where there is no session", () => {
  const words = "[the board](?applet=board&path=a%20b&_past=t1) and [none](?applet=../x)";
  render(
    <AppletsContext value={{ session: "s1", newest: null, fresh: null, past: null }}>
      <Markdown text={words} growing={false} />
    </AppletsContext>,
  );
  expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual(["/s/s1?applet=board&path=a+b"]);
  cleanup();
  show(words);
  expect(screen.queryByRole("link")).toBeNull();
});

test("letters that look like others show in a link's target", () => {
  show("[apple.com](https://аpple.com/)");
  expect(screen.getByRole("link").textContent).toBe("apple.com (xn--pple-43d.com)");
});

test.each(["javascript:alert(1)", "data:text/html,<script>1</script>", "vbscript:x", "file:///etc/passwd", "/api/v1/sessions", "src/loom.rs", "//evil.example/x"])(
  "%s is no link",
  (href) => {
    const page = show(`[words](<${href}>)`);
    expect(page.querySelector("a, [href]")).toBeNull();
    expect(page.textContent).toContain("words");
  },
);

test("code keeps its language, its text and its tabs, and can be copied", () => {
  const page = show("```rust\nfn main() {\n\t<b>x</b>\n}\n```");
  expect(screen.getByRole("figure", { name: "Code, rust" }).querySelector("pre")?.textContent).toBe("fn main() {\n\t<b>x</b>\n}");
  expect(screen.getByRole("button", { name: "Copy the code" })).toBeTruthy();
  expect(page.querySelectorAll("pre")).toHaveLength(1);
});

test("a diagram's source is shown as code", () => {
  show("```mermaid\ngraph TD; A-->B\n```");
  expect(screen.getByRole("figure", { name: "Code, mermaid" }).textContent).toContain("graph TD; A-->B");
});

test("lists, tables, quotes and headings become what they are", () => {
  const page = show("# One\n\n- [x] done\n- [ ] not\n\n3. three\n4. four\n\n> quote\n\n|a|b|\n|-|-|\n|1|2|\n\n~~gone~~");
  expect(screen.getByRole("heading", { level: 3, name: "One" })).toBeTruthy();
  expect(screen.getByRole("img", { name: "Done" })).toBeTruthy();
  expect(page.querySelector("ol")?.getAttribute("start")).toBe("3");
  expect(screen.getByRole("table").querySelectorAll("td")).toHaveLength(2);
  expect(page.querySelector("blockquote")?.textContent).toContain("quote");
  expect(page.querySelector("del")?.textContent).toBe("gone");
});

test("a long table and a long list are drawn as what they are, the rest of them when it is asked for", async () => {
  const rows = Array.from({ length: 1_000 }, (_, row) => `| ${row} | **b** |\n`).join("");
  const page = show(`| a | b |\n|---|---|\n${rows}`);
  const heads = () => [...page.querySelectorAll("thead")].map(({ textContent }) => textContent);
  const drawn = page.querySelectorAll("tbody tr").length;
  expect(drawn).toBeGreaterThan(200);
  expect(drawn).toBeLessThan(1_000);
  expect(new Set(heads())).toEqual(new Set(["ab"]));
  expect(page.textContent).toContain("999");
  await userEvent.click(screen.getByRole("button", { name: "Show more" }));
  await waitFor(() => expect(page.querySelectorAll("tbody tr").length).toBeGreaterThan(drawn));
  cleanup();
  const list = show("1. item\n".repeat(2_600));
  const [first, last] = [...list.querySelectorAll("ol")].map((ol) => ({ start: Number(ol.getAttribute("start") ?? 1), items: ol.children.length }));
  expect(first?.start).toBe(1);
  expect((last?.start ?? 0) + (last?.items ?? 0) - 1).toBe(2_600);
});

test("hidden characters are named, however they are written", () => {
  expect(show("see &#x202E;exe.txt and &rlm;").textContent).toBe("see ⟨U+202E⟩exe.txt and ⟨U+200F⟩");
  cleanup();
  expect(show("see \u202Eexe.txt and \u001B[2J").textContent).toContain("see ⟨U+202E⟩exe.txt and ␛[2J");
});

test("hidden characters are named in the names of pictures and of languages too", () => {
  expect(show("![a&#x202E;b](https://e.example)").textContent).toContain("a⟨U+202E⟩b");
  cleanup();
  const page = show("```ru&#x202E;st\nx\n```");
  expect(page.textContent).toContain("ru⟨U+202E⟩st");
  expect(screen.getByRole("figure").getAttribute("aria-label")).not.toContain("\u202E");
});

test("what looks like HTML or a formula stays as it was written, also while the words grow", () => {
  expect(show("a <b", true).textContent).toBe("a <b");
  cleanup();
  expect(show("the pid is $$", true).textContent).toBe("the pid is $$");
});

test("marks that are still open are closed while the words grow, and stay as written at the end", () => {
  expect(show("so **very", true).querySelector("strong")?.textContent).toBe("very");
  cleanup();
  expect(show("so **very").textContent).toBe("so **very");
});

test("named character references become their characters, all of them", async () => {
  const { characterEntities } = await import("character-entities");
  const names = Object.keys(characterEntities);
  expect(names.length).toBeGreaterThan(2_000);
  for (const name of ["amp", "lt", "gt", "quot", "nbsp", "hellip", "notin", "CounterClockwiseContourIntegral"]) {
    expect(show(`x&${name};y`).textContent).toBe(`x${characterEntities[name]}y`);
    cleanup();
  }
  // One of them is the end of a line, beside which a space means nothing.
  const letters = (text: string | null) => text?.replace(/\s+/g, "");
  const same = letters(show(names.map((name) => `x&${name};`).join(" ")).textContent) === letters(names.map((name) => `x${shown(characterEntities[name] ?? "")}`).join(" "));
  expect(same).toBe(true);
});

test("what is no reference stays as it was written", () => {
  expect(show("AT&T; &nosuch; &;").textContent).toBe("AT&T; &nosuch; &;");
});

test.each([
  ["## Two\n\ntext\n\n### Three", [3, 4]],
  ["### Three\n\n##### Five", [3, 4]],
  ["# One\n\n## Two\n\n###### Six", [3, 4, 5]],
])("the headings of %j follow those of the page without a gap", (text, levels) => {
  render(<Markdown text={text} growing={false} />);
  expect(screen.getAllByRole("heading").map((heading) => Number(heading.getAttribute("aria-level")))).toEqual(levels);
});
