// Who may come in: nobody without a credential, and a link only once.
import assert from "node:assert/strict";
import { test } from "node:test";

import { newPage, open, signIn } from "./support.mjs";

test("a browser without a credential is told the one command", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await page.goto(server.origin);
  await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
  await page.getByText("throughline token link").waitFor();
});

test("a used link is refused, and a fresh one pasted into the same tab signs in", async (t) => {
  const { server, browser } = await open(t);
  const used = server.link();
  const first = await newPage(browser);
  await signIn(first.page, used);

  const { page } = await newPage(browser);
  await page.goto(used);
  await page.getByRole("heading", { name: "This link was used or has expired" }).waitFor();
  assert.equal(page.url(), `${server.origin}/`, "the code is gone from the address bar");
  await page.getByText("throughline token link").waitFor();

  // Only the fragment differs from the address that is open, so the browser itself loads nothing.
  await signIn(page, await server.freshLink());
  assert.equal(page.url(), `${server.origin}/`);
});

test("a used link in a browser that is signed in does no harm", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await page.goto("about:blank");
  await signIn(page, server.link());
});
