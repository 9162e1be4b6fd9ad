// What a session is about: the line below the composer, the panel, and files to be read; in two browsers at once.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { composer, createSession, newPage, open, PHONE, send, signIn, state, turn } from "./support.mjs";

async function inDirectory(t) {
  const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  return cwd;
}

function footer(page) {
  return page.getByRole("region", { name: "Context", exact: true });
}

/** Has the guide write a file. */
async function write(page, number, words) {
  await send(page, `write ${words}`);
  await turn(page, number, "I wrote").waitFor();
  await state(page, "Idle").waitFor();
}

test("what the agent wrote is offered, one click marks it, and every browser sees it at once", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await inDirectory(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { cwd, name: "about" });
  await footer(page).waitFor({ state: "detached" });
  await write(page, 1, "notes.md hello");
  const automatic = footer(page).getByRole("link", { name: `${cwd}/notes.md, edited by the agent, not pinned` });
  await automatic.waitFor();
  assert.equal(await automatic.textContent(), "notes.md");

  const { page: second } = await newPage(browser, { viewport: PHONE });
  await signIn(second, await server.freshLink());
  await second.goto(page.url());
  const automaticThere = footer(second).getByRole("link", { name: /not pinned/ });
  await automaticThere.waitFor();
  await footer(page).getByRole("button", { name: "Pin it" }).click();
  const marked = { name: `${cwd}/notes.md`, exact: true };
  await footer(second).getByRole("link", marked).waitFor();
  await automaticThere.waitFor({ state: "detached" });
  await footer(page).getByRole("link", marked).waitFor();

  await footer(page).getByRole("link", marked).click();
  const editor = page.getByRole("complementary", { name: "Applet" });
  await editor.waitFor();
  assert.equal(new URL(page.url()).search, `?applet=text-editor&path=${encodeURIComponent(`${cwd}/notes.md`)}`);
  await editor.getByRole("button", { name: "Close the applet" }).click();
  await editor.waitFor({ state: "detached" });

  // Another session has nothing of it; a new one neither.
  await createSession(page, { cwd, name: "another" });
  await footer(page).waitFor({ state: "detached" });
  await page.getByRole("navigation").getByRole("link", { name: /about/ }).click();
  await footer(page).getByRole("link", marked).waitFor();
  assert.deepEqual(complaints, []);
});

test("the panel marks up to ten, says why an eleventh has no room, and leads to what proved a fact", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await inDirectory(t);
  const outside = await inDirectory(t);
  await writeFile(path.join(outside, "ticket.md"), "a ticket <b>from</b> elsewhere\n");
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { cwd, name: "about" });
  await write(page, 1, "notes.md hello");
  await page.getByRole("button", { name: "Context", exact: true }).click();
  const panel = page.getByRole("complementary", { name: "Context" });
  const files = panel.getByRole("group", { name: "Pinned files" });
  const field = files.getByRole("textbox", { name: "Add to files" });
  const add = async (file) => {
    await field.fill(file);
    await field.press("Enter");
  };
  for (let number = 1; number <= 9; number++) {
    await add(`${cwd}/${number}.md`);
    await files.getByText(`${number} of 10`).waitFor();
  }
  await add(`${outside}/ticket.md`);
  await files.getByText("10 of 10").waitFor();
  await add(`${cwd}/eleventh.md`);
  await files.getByRole("alert").filter({ hasText: "holds ten" }).waitFor();
  assert.equal(await field.inputValue(), `${cwd}/eleventh.md`);

  await panel.getByRole("textbox", { name: "Environment" }).fill("use the loom in .venv");
  await panel.getByRole("button", { name: "Save" }).click();
  await panel.getByRole("button", { name: /What the agent would be told/ }).click();
  await panel.getByText(/Environment: use the loom in \.venv/).waitFor();
  await panel.getByText(/characters, about \d/).waitFor();

  // Outside of the session's directory: asked once, then read.
  await files.getByRole("link", { name: `${outside}/ticket.md` }).click();
  const viewer = page.getByRole("dialog", { name: "ticket.md" });
  await viewer.getByRole("button", { name: "Open it" }).click();
  await viewer.getByText("a ticket <b>from</b> elsewhere").waitFor();
  await page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });
  await files.getByRole("link", { name: `${outside}/ticket.md` }).click();
  await viewer.getByText("a ticket <b>from</b> elsewhere").waitFor();
  await page.keyboard.press("Escape");

  await panel.getByRole("link", { name: /^t1.1, the call behind/ }).click();
  assert.equal(new URL(page.url()).hash, "#t1.1");
  await page.waitForFunction(() => document.activeElement?.getAttribute("data-tool") === "1");
  // The panel stands beside the transcript: it stays, and a prompt can be written meanwhile.
  await composer(page).fill("a prompt beside it");
  await panel.getByRole("button", { name: "Hide the side panel" }).click();
  await panel.waitFor({ state: "detached" });
  await footer(page).getByRole("button", { name: "+5 more pinned" }).waitFor();

  // The address of a file opens it.
  await page.goto(`${new URL(page.url()).origin}${new URL(page.url()).pathname}?file=${encodeURIComponent(`${cwd}/notes.md`)}`);
  await page.getByRole("dialog", { name: "notes.md" }).getByText("hello").waitFor();
  assert.deepEqual(complaints.filter((words) => !words.includes("409")), []);
});

test("on a phone the footer is one line and the panel a sheet that keeps the focus", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await inDirectory(t);
  const { page } = await newPage(browser, { viewport: PHONE });
  await signIn(page, server.link());
  await createSession(page, { cwd, name: "about" });
  await write(page, 1, "a-file-with-quite-a-long-name-indeed.md hello");
  await write(page, 2, "another-file-with-a-long-name.md hello");
  const box = await footer(page).boundingBox();
  assert.ok(box.height < 64, `${box.height} px high`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await footer(page).getByRole("button", { name: "Open the context panel" }).click();
  const panel = page.getByRole("dialog", { name: "Context" });
  const sheet = await panel.boundingBox();
  assert.equal(Math.round(sheet.y + sheet.height), PHONE.height);
  assert.equal(sheet.width, PHONE.width);
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    // The browser's own bar may have it in between.
    assert.ok(await panel.evaluate((dialog) => document.activeElement === document.body || dialog.contains(document.activeElement)));
  }
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  assert.ok(await footer(page).getByRole("button", { name: "Open the context panel" }).evaluate((button) => button === document.activeElement));
});
