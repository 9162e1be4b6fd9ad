// Reading a long session: the end is followed by a reader who is at the end, and nobody else is moved.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createSession, newPage, open, send, signIn, state, turn } from "./support.mjs";

const distanceFromEnd = (log) => log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);

test("the end is followed, and left alone once the reader leaves it", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, { viewport: { width: 1440, height: 500 } });
  await signIn(page, server.link());
  await createSession(page);
  await send(page, "long 250");
  await turn(page, 1, "word250").waitFor();
  await state(page, "Idle").waitFor();
  const log = page.getByRole("log", { name: "Transcript" });
  assert.ok((await distanceFromEnd(log)) < 50, "the end is in view");

  await send(page, "long 900");
  await turn(page, 2, "word300 ").waitFor();
  assert.ok((await distanceFromEnd(log)) < 50, "the end is still in view while it grows");

  await log.hover();
  await page.mouse.wheel(0, -300);
  await page.getByRole("button", { name: "Latest" }).waitFor();
  const before = await log.evaluate((element) => element.scrollTop);
  await turn(page, 2, "word600 ").waitFor();
  assert.equal(await log.evaluate((element) => element.scrollTop), before, "the reader was not moved");

  await page.getByRole("button", { name: "Latest" }).click();
  await page.getByRole("button", { name: "Latest" }).waitFor({ state: "detached" });
  await turn(page, 2, "word900").waitFor();
  await page.waitForFunction(() => {
    const element = document.querySelector("[role=log]");
    return element.scrollHeight - element.scrollTop - element.clientHeight < 50;
  });
});
