// Reading a long session: the end is followed by a reader who is at the end, and nobody else is moved.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createSession, ended, newPage, open, send, signIn, turn } from "./support.mjs";

/** Waits until the end of the transcript is in view. */
const atEnd = (page) =>
  page.waitForFunction(() => {
    const log = document.querySelector("[role=log]");
    return log.scrollHeight - log.scrollTop - log.clientHeight < 50;
  });

/** Waits until the transcript has come to rest, and gives where. */
const restingPlace = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const log = document.querySelector("[role=log]");
        const look = (before) => {
          window.requestAnimationFrame(() => (log.scrollTop === before ? resolve(before) : look(log.scrollTop)));
        };
        look(-1);
      }),
  );

test("the end is followed, and left alone once the reader leaves it", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, { viewport: { width: 1440, height: 500 } });
  await signIn(page, server.link());
  await createSession(page);
  await send(page, "long 250");
  await ended(page, 1, "word250");
  await atEnd(page);

  await send(page, "long 900");
  await turn(page, 2, "word300 ").waitFor();
  await atEnd(page);

  await page.getByRole("log", { name: "Transcript" }).hover();
  await page.mouse.wheel(0, -300);
  await page.getByRole("button", { name: "Latest" }).waitFor();
  const before = await restingPlace(page);
  await turn(page, 2, "word600 ").waitFor();
  assert.equal(await restingPlace(page), before, "the reader was not moved");

  await page.getByRole("button", { name: "Latest" }).click();
  await page.getByRole("button", { name: "Latest" }).waitFor({ state: "detached" });
  await turn(page, 2, "word900").waitFor();
  await atEnd(page);
});

test("code is coloured by a worker that comes with the first block, within the page's policy", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser);
  const loaded = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await signIn(page, server.link());
  await createSession(page);
  await send(page, "say Only words, and `code` among them.");
  await ended(page, 1, "Only words");
  assert.ok(!loaded.some((path) => path.includes("worker")), "words alone load no worker");

  await send(page, "say ```rust\nfn main() {\n    let thread = 1; // one\n}\n```\n\n```mermaid\ngraph TD\n```");
  await ended(page, 2, "graph TD");
  const code = turn(page, 2).getByRole("figure", { name: "Code, rust" }).last();
  await code.locator(".code-keyword", { hasText: "fn" }).waitFor();
  assert.equal(await code.locator("pre").textContent(), "fn main() {\n    let thread = 1; // one\n}");
  assert.equal(await turn(page, 2).getByRole("figure", { name: "Code, mermaid" }).last().locator("pre span").count(), 0);
  assert.ok(loaded.some((path) => path.includes("worker")));
  assert.deepEqual(complaints, []);
});
