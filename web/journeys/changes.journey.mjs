// What changed in a session: files and lines beside the transcript, a comment on a line in the next prompt, git.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { checkAccessibility } from "./axe.mjs";
import { comesToBe, composer, createSession, ended, newPage, open, send, signIn, TOUCH_PHONE } from "./support.mjs";

const run = promisify(execFile);

/** A directory with a file that git knows. */
async function repository(t) {
  const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(path.join(cwd, "notes.md"), "one\ntwo\nthree");
  await writeFile(path.join(cwd, "by-hand.md"), "mine\n");
  const git = (...args) => run("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { cwd });
  await git("init", "-q");
  await git("add", "-A");
  await git("commit", "-qm", "first");
  return cwd;
}

const file = (panel, name) => panel.getByRole("region", { name, exact: true });

test("what changed stands beside the transcript, and a comment on a line goes into the next prompt", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await repository(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { cwd, name: "changes" });
  await send(page, "write notes.md one\n2\nthree");
  await ended(page, 1, "I wrote");

  // Three presses from the question to the lines: open, unfold, read.
  await page.getByRole("button", { name: "Changes", exact: true }).click();
  const panel = page.getByRole("complementary", { name: "Changes" });
  await panel.getByText(/^1 file/).waitFor();
  await file(panel, "notes.md").getByRole("button", { name: /notes.md/ }).click();
  const lines = panel.getByRole("listbox", { name: "Lines of notes.md" });
  await comesToBe(() => lines.getByRole("option").allTextContents(), ["11 one", "2−Removed: two", "2+Added: 2", "33 three"]);

  // By the keyboard, two lines; then a prompt is written while it is open.
  await lines.focus();
  for (const key of ["ArrowDown", "ArrowDown", "Shift+ArrowDown", "Enter"]) {
    await page.keyboard.press(key);
  }
  await page.getByRole("textbox", { name: "Comment on notes.md:2" }).fill("Spell it out.");
  await checkAccessibility(page, "changes");
  await page.keyboard.press("Enter");
  await lines.getByRole("option", { name: /three/ }).click();
  await page.getByRole("textbox", { name: "Comment on notes.md:3" }).fill("Why not 3?");
  await page.getByRole("button", { name: "Add to the prompt" }).click();
  const expected = "notes.md:2\n> -two\n> +2\nSpell it out.\n\nnotes.md:3\n> three\nWhy not 3?";
  await comesToBe(() => composer(page).inputValue(), expected);
  await composer(page).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await ended(page, 2, "Spell it out.");

  // An edit that comes is seen without asking; what was done by hand is told apart.
  await send(page, "write new.md hello");
  await ended(page, 3, "I wrote");
  await file(panel, "new.md").getByText("+1").waitFor();
  await writeFile(path.join(cwd, "by-hand.md"), "mine\nand more\n");
  await panel.getByRole("combobox", { name: "Since" }).selectOption("git");
  await file(panel, "by-hand.md").getByText("changed outside", { exact: true }).waitFor();
  await panel.getByRole("combobox", { name: "Open files in" }).selectOption("vscode");
  await file(panel, "by-hand.md").getByRole("button", { name: /by-hand.md/ }).click();
  const link = file(panel, "by-hand.md").getByRole("link", { name: "Open in VS Code" });
  await comesToBe(() => link.getAttribute("href"), `vscode://file${cwd}/by-hand.md:2`);
  assert.deepEqual(complaints, []);
});

test("the panel opens, closes and grows without moving the turn that is read, and is remembered", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await repository(t);
  const { page } = await newPage(browser, { viewport: { width: 1200, height: 700 } });
  await signIn(page, server.link());
  await createSession(page, { cwd });
  for (const number of [1, 2, 3]) {
    await send(page, "long 400");
    await ended(page, number, "word400");
  }
  const panel = page.getByRole("complementary", { name: "Plan" });
  assert.equal(await panel.count(), 0, "below 1280 px it is closed until it is asked for");
  await page.goto(`${page.url()}#t2`);
  await page.reload();
  // From the transcript's own top: a narrow header is less tall than a wide one.
  const top = () =>
    page.evaluate(() => {
      const log = document.querySelector("[role=log]")?.getBoundingClientRect().top;
      return Math.round((document.getElementById("t2")?.getBoundingClientRect().top ?? Infinity) - log);
    });
  await comesToBe(async () => Math.abs(await top()) < 60, true);
  const before = await top();
  await page.getByRole("log").focus();
  await page.keyboard.press("d");
  const changes = page.getByRole("complementary", { name: "Changes" });
  await changes.waitFor();
  await comesToBe(async () => Math.abs((await top()) - before) <= 2, true);
  await changes.getByRole("tab", { name: "Changes" }).focus();
  await page.keyboard.press("ArrowRight");
  await panel.getByText(/The agent’s plan/).waitFor();
  await page.getByRole("separator", { name: "Width of the side panel" }).focus();
  await page.keyboard.press("ArrowLeft");
  await comesToBe(async () => Math.abs((await top()) - before) <= 2, true);
  const { width } = await panel.boundingBox();
  await page.reload();
  await comesToBe(async () => (await panel.boundingBox())?.width, width);
  await panel.getByRole("button", { name: "Hide the side panel" }).click();
  await panel.waitFor({ state: "detached" });
});

test("on a phone the changes are a sheet, two taps away", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await repository(t);
  const { page, complaints } = await newPage(browser, TOUCH_PHONE);
  await signIn(page, server.link());
  await createSession(page, { cwd });
  // On a touch screen Enter is a new line.
  await composer(page).fill("write notes.md one\n2\nthree");
  await page.getByRole("button", { name: "Send", exact: true }).tap();
  await ended(page, 1, "I wrote");
  await page.getByRole("button", { name: "More of this session" }).tap();
  await page.getByRole("button", { name: "Changes", exact: true }).tap();
  const sheet = page.getByRole("dialog", { name: "Changes" });
  await file(sheet, "notes.md").getByRole("button", { name: /notes.md/ }).tap();
  await sheet.getByRole("option", { name: /Added: 2/ }).tap();
  await sheet.getByRole("textbox", { name: "Comment on notes.md:2" }).fill("Spell it out.");
  await checkAccessibility(page, "changes on a phone");
  await sheet.getByRole("button", { name: "Add to the prompt" }).tap();
  await sheet.getByText("The comment is in your prompt.").waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await sheet.getByRole("tab", { name: "Contents" }).tap();
  await page.getByRole("dialog", { name: "Contents" }).getByRole("link", { name: /Turn 1/ }).tap();
  await sheet.waitFor({ state: "detached" });
  assert.equal(await composer(page).inputValue(), "notes.md:2\n> 2\nSpell it out.");
  assert.deepEqual(complaints, []);
});
