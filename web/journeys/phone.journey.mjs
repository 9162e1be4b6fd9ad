// On a phone: the list is the first page, a session the second, and everything is within reach of a thumb.
import assert from "node:assert/strict";
import { test } from "node:test";

import { composer, createSession, ended, newPage, open, PHONE, signIn, TOUCH_PHONE, turn } from "./support.mjs";

test("list, session, back", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser, TOUCH_PHONE);
  await signIn(page, server.link());
  await createSession(page, { name: "on the road" });
  // On a phone Enter begins a line; a button sends.
  await composer(page).fill("say hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await turn(page, 1, "hello").waitFor();

  const box = await composer(page).boundingBox();
  assert.ok(box !== null && box.y + box.height <= PHONE.height && box.x >= 0 && box.x + box.width <= PHONE.width, "the composer is in view");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width, "nothing is wider than the screen");

  await page.getByRole("link", { name: "Back to the sessions" }).click();
  const row = page.getByRole("link", { name: /on the road/ });
  await row.waitFor();
  assert.equal(await page.getByRole("article").count(), 0);
  await row.click();
  await turn(page, 1, "hello").waitFor();
  await page.goBack();
  await row.waitFor();

  await row.click();
  await ended(page, 1, "hello");
  // In one look: a button may go while others are measured.
  const small = await page.locator("main button[aria-label]:visible").evaluateAll((buttons) =>
    buttons.flatMap((button) => {
      const { width, height } = button.getBoundingClientRect();
      return width >= 44 && height >= 44 ? [] : [`${button.ariaLabel} is ${width} by ${height} px`];
    }),
  );
  assert.deepEqual(small, []);
  assert.deepEqual(complaints, []);
});

test("without a connection the page says so, and covers nothing that can be pressed", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, TOUCH_PHONE);
  await signIn(page, server.link());
  await createSession(page, { name: "on the road" });
  await composer(page).fill("say hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await turn(page, 1, "hello").waitFor();
  await server.end("SIGKILL");
  const words = page.locator("main header").getByText("Connection lost.");
  await words.waitFor();
  const line = await page.locator("main header [data-part=status] [role=status]").boundingBox();
  for (const button of await page.locator("main header").getByRole("button").all()) {
    await button.click({ trial: true });
  }
  const first = await page.locator("main header").getByRole("button", { name: "Contents" }).boundingBox();
  assert.ok(line.y >= first.y + first.height, "the words begin below the buttons");
});
