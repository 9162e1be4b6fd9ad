// What a person does with sessions: prompts that wait, names, unseen answers, deleting and taking it back, keys.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { api, comesToBe, composer, createSession, ended, newPage, open, send, signIn, state, turn } from "./support.mjs";

test("prompts wait their turn, and can be changed or removed", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page);
  await send(page, "slow 3600");
  await state(page, "Running").waitFor();
  await send(page, "say second");
  const waiting = page.getByRole("region", { name: "Waiting prompt" });
  await waiting.filter({ hasText: "say second" }).waitFor();
  await send(page, "say third");
  await waiting.filter({ hasText: "say third" }).getByRole("button", { name: "Remove" }).click();
  await waiting.filter({ hasText: "say third" }).waitFor({ state: "detached" });

  await waiting.getByRole("button", { name: "Change" }).click();
  await waiting.getByRole("textbox").fill("say changed");
  await waiting.getByRole("button", { name: "Save" }).click();
  await waiting.filter({ hasText: "say changed" }).waitFor();

  await page.getByRole("button", { name: "Stop" }).click();
  await turn(page, 1, "Stopped.").waitFor();
  await turn(page, 2, "changed").waitFor();
  await waiting.waitFor({ state: "detached" });
});

test("rename, delete, undo", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  const session = await createSession(page, { name: "first name" });
  await page.getByRole("heading", { name: "first name" }).getByRole("button").click();
  await page.getByRole("textbox", { name: "Name of the session" }).fill("second name");
  await page.keyboard.press("Enter");
  const row = page.getByRole("navigation").getByRole("link", { name: /second name/ });
  await row.waitFor();

  await page.getByRole("button", { name: "More of this session" }).click();
  await page.getByRole("button", { name: "Delete session" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).pathname, "/");
  await page.getByRole("button", { name: "Undo" }).click();
  await row.waitFor();
  await page.getByRole("heading", { name: "second name" }).waitFor();
  assert.equal(new URL(page.url()).pathname, `/s/${session}`);
});

test("an answer that nobody saw is marked until somebody looks", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  const session = await createSession(page, { name: "watched" });
  await page.getByRole("link", { name: "Throughline, all sessions" }).click();
  await composer(page).waitFor({ state: "detached" });
  await api(server, dataDir, `/sessions/${session}/prompts`, { text: "say here it is" });
  await page.getByRole("link", { name: /watched.*Unseen/s }).waitFor();
  await page.getByText("1 unseen answer").waitFor();
  await page.getByRole("link", { name: /watched/ }).click();
  await page.getByText("All caught up").waitFor();
});

test("a directory that reaches everything is confirmed; one that is not there is refused in words", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.getByLabel("Directory").fill("/no/such/directory");
  await dialog.getByRole("button", { name: "Start session" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Directory").fill("/");
  // What is suggested below lies over neither the button nor the answer.
  await dialog.getByRole("option").first().waitFor();
  await dialog.getByRole("button", { name: "Start session" }).click({ trial: true });
  await dialog.getByLabel("Directory").press("Enter");
  await dialog.getByRole("button", { name: "Start there anyway" }).click();
  await composer(page).waitFor();
});

test("keys move through the list, open the sheet, and do not fire while writing", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { name: "alpha" });
  await createSession(page, { name: "beta" });
  await page.getByRole("link", { name: "Throughline, all sessions" }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "alpha" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("n?jk");
  assert.equal(await composer(page).inputValue(), "n?jk");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.waitFor();
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
});

test("the newest prompt is changed and sent again, and the draft that was there comes back", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page);
  await send(page, "say one");
  await ended(page, 1, "one");
  await send(page, "say two");
  await ended(page, 2, "two");
  const edit = page.getByRole("button", { name: "Edit and send again" });
  assert.equal(await edit.count(), 1);

  await composer(page).fill("a thought for later");
  // By keys alone: the button is reached from the transcript, and the words are written where the focus goes.
  await turn(page, 2).getByRole("button", { name: "Edit and send again" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Your draft comes back once this is sent.").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  assert.equal(await composer(page).inputValue(), "say two");
  await page.keyboard.type(" and a half");
  await page.keyboard.press("Enter");
  await turn(page, 3, "two and a half").waitFor();
  assert.equal(await composer(page).inputValue(), "a thought for later");
  assert.deepEqual(complaints, []);
});

test("an answer, a turn and a session are taken along as Markdown", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { name: "the loom" });
  await send(page, "say **warp** and weft");
  const answered = turn(page, 1, "warp and weft");
  await answered.waitFor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const clipboard = () => page.evaluate("navigator.clipboard.readText()");
  await answered.getByRole("button", { name: "Copy the answer" }).click();
  await comesToBe(clipboard, "**warp** and weft");
  await answered.getByRole("button", { name: "Copy turn 1 as Markdown" }).click();
  await comesToBe(clipboard, "\n## 1\n\n> say **warp** and weft\n\n**warp** and weft\n");
  await page.getByRole("button", { name: "More of this session" }).click();
  await page.getByRole("button", { name: "Export as…" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Markdown", exact: true }).click()]);
  assert.match(download.suggestedFilename(), /^the-loom-[0-9a-f]{8}\.md$/);
  assert.match(await readFile(await download.path(), "utf8"), /^# the loom\n[^]*\n## 1\n\n> say \*\*warp\*\* and weft\n/);
});
