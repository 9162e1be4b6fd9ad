// A newcomer's first minute: the link from the terminal, a session, a prompt, an answer that is still there after a
// reload; and the same session live in a second browser.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createSession, newPage, open, send, signIn, state, turn } from "./support.mjs";

test("sign in by link, talk to the guide, reload", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  assert.equal(page.url(), `${server.origin}/`, "the code is gone from the address bar");
  await page.getByRole("heading", { name: "Start with one session" }).first().waitFor();

  await createSession(page);
  await page.getByText("Nothing has been said yet.").waitFor();
  // Typed at once, without a click: the composer has the focus.
  await page.keyboard.type("say hello from the loom");
  await page.keyboard.press("Enter");
  await turn(page, 1, "hello from the loom").waitFor();
  await state(page, "Idle").waitFor();

  await page.reload();
  await turn(page, 1, "hello from the loom").waitFor();
  await page.getByRole("navigation", { name: "Sessions" }).getByRole("link", { name: /say hello from the loom/ }).waitFor();
  assert.deepEqual(complaints, []);
});

test("a first start shows the welcome, which offers a session where it was asked for", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page, complaints } = await newPage(browser);
  await page.goto(`${server.link()}&new=${encodeURIComponent(dataDir)}`);
  await page.getByRole("heading", { name: "Start with one session" }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.getByRole("button", { name: /^New session in / }).click();
  const dialog = page.getByRole("dialog", { name: "New session" });
  assert.equal(await dialog.getByLabel("Directory").inputValue(), dataDir);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  assert.deepEqual(complaints, []);
});

test("an answer streams in, and can be stopped", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page);
  await send(page, "long 10000");
  await turn(page, 1, "word40 ").waitFor();
  await state(page, "Running").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await turn(page, 1, "Stopped.").waitFor();
  await state(page, "Idle").waitFor();
});

test("a second browser sees the same session live", async (t) => {
  const { server, browser } = await open(t);
  const first = await newPage(browser);
  await signIn(first.page, server.link());
  const session = await createSession(first.page, { name: "shared" });

  const second = await newPage(browser);
  await signIn(second.page, await server.freshLink());
  await second.page.getByRole("link", { name: /shared/ }).click();
  await second.page.getByText("Nothing has been said yet.").waitFor();
  assert.equal(new URL(second.page.url()).pathname, `/s/${session}`);

  await send(first.page, "long 300");
  await turn(second.page, 1, "word5 ").waitFor();
  await turn(second.page, 1, "word300").waitFor();
  await send(second.page, "say and back");
  await turn(first.page, 2, "and back").waitFor();
  assert.deepEqual([...first.complaints, ...second.complaints], []);
});
