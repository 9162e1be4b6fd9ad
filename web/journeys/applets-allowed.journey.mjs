// What an applet may do of the session's files and of its agent: asked in the page's own bar, for exactly the content that it has.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { answerAsk, frameOf, heading, menu, panelOf, saveApplet, searchOf, woven } from "./applets.mjs";
import { checkAccessibility } from "./axe.mjs";
import { api, comesToBe, createSession, ended, newPage, open, send, signIn, turn } from "./support.mjs";

const run = promisify(execFile);

test("files are read and written once the person allows it, in the page’s own bar", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const cwd = await woven(t);
  const { page, complaints } = await newPage(browser, { reducedMotion: "reduce" });
  await signIn(page, server.link());
  const session = await createSession(page, { cwd, name: "files" });
  await page.goto(`${server.origin}/s/${session}?applet=file-browser`);
  const frame = frameOf(page);
  await page.getByRole("alertdialog", { name: "The applet asks" }).getByText("“File browser” (file-browser) wants to read files of this session.").waitFor();
  await checkAccessibility(page, "an applet that asks");
  await answerAsk(page, "read files", "Not now");
  await frame.getByText("Allow reading files above to see them.").waitFor();
  // It was declined: it asks again only when it is loaded anew.
  await frame.getByRole("button", { name: "Try again" }).click();
  await frame.getByText("Allow reading files above to see them.").waitFor();
  await menu(page, "Load it anew");
  await answerAsk(page, "read files", "Allow");
  await frame.getByRole("button", { name: "notes.md" }).waitFor();

  // A folder is a step: Back leads out of it, Forward into it.
  await frame.getByRole("button", { name: "sheds/" }).click();
  await frame.getByRole("button", { name: "first.md" }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("path"), path.join(cwd, "sheds"));
  await page.goBack();
  await frame.getByRole("button", { name: "notes.md" }).waitFor();
  assert.equal(searchOf(page), "?applet=file-browser");
  await page.goForward();
  await frame.getByRole("button", { name: "first.md" }).waitFor();
  await page.goBack();

  // Another applet has nothing of what this one may do.
  await frame.getByRole("button", { name: "notes.md" }).click();
  await heading(page, "Text editor").waitFor();
  await answerAsk(page, "“Text editor” (text-editor) wants to read files", "Allow");
  const text = frame.getByRole("textbox", { name: "notes.md" });
  await comesToBe(() => text.inputValue(), "warp\nweft\n");
  await text.fill("warp\nweft\nselvedge\n");
  await frame.getByRole("button", { name: "Save" }).click();
  await answerAsk(page, "“Text editor” (text-editor) wants to write files", "Allow");
  await frame.getByText("Saved.", { exact: true }).waitFor();
  assert.equal(await readFile(path.join(cwd, "notes.md"), "utf8"), "warp\nweft\nselvedge\n");
  // It holds after a reload, and a file that somebody changed meanwhile is not written over.
  await page.reload();
  await comesToBe(() => text.inputValue(), "warp\nweft\nselvedge\n");
  await writeFile(path.join(cwd, "notes.md"), "by hand\n");
  await text.fill("warp\n");
  await text.press("Control+s");
  await frame.getByText("Somebody changed this file since you opened it. Nothing was saved.").waitFor();
  assert.equal(await readFile(path.join(cwd, "notes.md"), "utf8"), "by hand\n");
  await frame.getByRole("button", { name: "Overwrite with mine" }).click();
  await frame.getByText("Saved.", { exact: true }).waitFor();
  assert.equal(await readFile(path.join(cwd, "notes.md"), "utf8"), "warp\n");
  // Outside of the session's directory it reads nothing.
  await page.goto(`${server.origin}/s/${session}?applet=text-editor&path=${encodeURIComponent("/etc/hostname")}`);
  await frame.getByRole("button", { name: "Try again" }).waitFor();
  assert.equal(await frame.getByRole("textbox").count(), 0);

  // What was allowed can be taken back.
  await menu(page, "What it may do…");
  const rights = page.getByLabel("What can be done with this applet");
  await checkAccessibility(page, "what an applet may do");
  await rights.getByRole("checkbox", { name: /read files/i, checked: true }).click();
  await comesToBe(async () => (await api(server, dataDir, `/storage/applet/text-editor/grants?session=${session}`)).grants, ["files.write"]);
  await page.keyboard.press("Escape");
  await page.goto(`${server.origin}/s/${session}?applet=text-editor&path=${encodeURIComponent(path.join(cwd, "notes.md"))}`);
  await answerAsk(page, "“Text editor” (text-editor) wants to read files", "Allow");
  await comesToBe(() => text.inputValue(), "warp\n");
  assert.deepEqual(complaints.filter((words) => !/40[39]|404|412/.test(words)), []);
});

test("what was allowed ends when the content changes; a prompt is shown before it goes the first time", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const cwd = await woven(t);
  const { page, complaints } = await newPage(browser, { reducedMotion: "reduce" });
  await signIn(page, server.link());
  const session = await createSession(page, { cwd, name: "granted" });
  const asking = `
    const say = (name, call) => call.catch(({ code }) => code).then((outcome) => { document.getElementById("said").textContent = name + ": " + outcome; });
    const read = () => say("read", throughline.files.read("notes.md").then(({ content }) => content));
    const write = () => say("write", throughline.files.write("new.md", "new").then(() => "written"));
    const tell = () => say("tell", throughline.message("say Weave on, <b>please</b>.").then(() => "sent"));
    const link = () => say("link", throughline.openLink("https://example.org/loom").then(() => "opened"));
    expose({ asks: { read, write, tell, link } });
    say("it", throughline.ready.then(() => "is here"));`;
  const html = ["read", "write", "tell", "link"].map((name) => `<button onclick="asks.${name}()">${name}</button>`).join(" ");
  await saveApplet(server, dataDir, "asking", { name: "Asking", html: `${html} <p id="said"></p>`, js: asking });
  await page.goto(`${server.origin}/s/${session}?applet=asking`);
  const frame = frameOf(page);
  const said = (words) => comesToBe(() => frame.locator("#said").textContent(), words);
  await said("it: is here");
  const press = (name) => frame.getByRole("button", { name, exact: true }).click();
  await press("read");
  await answerAsk(page, "“Asking” (asking) wants to read files", "Allow");
  await said("read: warp\nweft\n");
  // One thing does not allow another.
  await press("write");
  await answerAsk(page, "“Asking” (asking) wants to write files", "Not now");
  await said("write: not_granted");
  // A page elsewhere is asked for each time.
  for (let times = 0; times < 2; times++) {
    await press("link");
    await page.getByRole("alertdialog").getByText("https://example.org/loom").waitFor();
    await answerAsk(page, "open this page elsewhere", "Not now");
    await said("link: not_granted");
    await press("read");
    await said("read: warp\nweft\n");
  }
  await press("tell");
  await page.getByRole("alertdialog").getByText("say Weave on, <b>please</b>.", { exact: true }).waitFor();
  assert.equal(await turn(page, 1).count(), 0, "nothing goes before it was seen");
  await answerAsk(page, "send this to the agent", "Send, and allow it from now on");
  await said("tell: sent");
  await ended(page, 1, "Weave on, <b>please</b>.");
  await turn(page, 1).getByText("Sent by the applet “asking”").waitFor();
  await press("read");
  await said("read: warp\nweft\n");
  // A second one goes, and the page says what it was.
  await comesToBe(async () => {
    await press("read");
    await said("read: warp\nweft\n");
    await press("tell");
    // At most one goes in a second.
    await frame.locator("#said", { hasText: /^tell: (?:sent|busy)$/ }).waitFor();
    return frame.locator("#said").textContent();
  }, "tell: sent");
  await ended(page, 2, "Weave on");
  await panelOf(page).getByText("It sent the agent: say Weave on, <b>please</b>.").waitFor();

  // With other content, nothing of it holds.
  const content = path.join(dataDir, "applets", "asking", "content.html");
  await writeFile(`${content}.new`, `<h1>Changed</h1> ${html} <p id="said"></p>`);
  await rename(`${content}.new`, content);
  await frame.getByRole("heading", { name: "Changed" }).waitFor();
  // Its buttons do nothing before its script has run.
  await said("it: is here");
  await press("read");
  await answerAsk(page, "“Asking” (asking) wants to read files", "Not now");
  await said("read: not_granted");
  await press("tell");
  await answerAsk(page, "send this to the agent", "Not now");
  await said("tell: not_granted");
  assert.equal(await turn(page, 3).count(), 0);
  assert.deepEqual(complaints, []);
});

test("what git says, a picture and the plan are applets as any other", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await woven(t);
  const git = (...args) => run("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { cwd });
  await git("init", "-q");
  await git("add", "-A");
  await git("commit", "-qm", "first");
  await writeFile(path.join(cwd, "notes.md"), "warp\nweft, woven\n");
  const { page, complaints } = await newPage(browser, { reducedMotion: "reduce" });
  await signIn(page, server.link());
  const session = await createSession(page, { cwd, name: "plans" });
  await writeFile(path.join(cwd, "loom.png"), await page.screenshot({ clip: { x: 0, y: 0, width: 64, height: 36 } }));
  const frame = frameOf(page);
  const go = (applet) => page.goto(`${server.origin}/s/${session}?applet=${applet}`);
  await go("git-status");
  await answerAsk(page, "“Git status” (git-status) wants to read files", "Allow");
  await frame.getByRole("button", { name: /notes\.md/ }).click();
  await answerAsk(page, "read files", "Allow");
  await comesToBe(async () => (await frame.locator(".line").allTextContents()).map((line) => line.replace(/\s+/g, " ")), ["11 warp", "2−weft", "2+weft, woven"]);
  await go(`image-viewer&path=loom.png`);
  await answerAsk(page, "read files", "Allow");
  await comesToBe(() => frame.locator("img").evaluateAll((pictures) => pictures.map(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])), [[64, 36]]);
  await send(page, "plan Warp; Weft; Selvedge");
  await ended(page, 1);
  await go("plan");
  await frame.getByText("All of 3 steps done. Nobody is working.").waitFor();
  assert.deepEqual(complaints, []);
});
