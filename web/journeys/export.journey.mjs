// A session as a file: each sort is saved from the menu by the browser itself, and the web page has all that was shown, without
// a network.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { open as openFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { CODE, loom, PICTURE, showEach, VIDEO } from "./shown.mjs";
import { newPage, open, signIn } from "./support.mjs";

test("a session is saved as each sort of file, and the web page has all that was shown without a network", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await loom(t);
  const { page, complaints } = await newPage(browser, { baseURL: server.origin });
  await signIn(page, server.link());
  await showEach(page, cwd);
  const save = async (kind) => {
    await page.getByRole("button", { name: "More of this session" }).click();
    await page.getByRole("button", { name: "Export as…" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: kind, exact: true }).click()]);
    assert.ok(download.url().startsWith(`${server.origin}/api/v1/tickets/`), "the browser reads it by itself");
    await page.getByText("The browser saves the session as a file.").waitFor();
    return { name: download.suggestedFilename(), file: await download.path() };
  };
  const beginning = async (file, length) => {
    const handle = await openFile(file);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, 0);
    await handle.close();
    return buffer;
  };
  const markdown = await save("Markdown");
  assert.match((await beginning(markdown.file, 200)).toString(), /^# All of the loom\n/);
  const bundle = await save("Bundle");
  // A tar archive says so behind the name of its first file.
  const head = await beginning(bundle.file, 512);
  assert.equal(head.subarray(257, 262).toString(), "ustar");
  const html = await save("Web page");
  assert.match((await beginning(html.file, 200)).toString(), /^<!doctype html>\n<html/i);
  assert.deepEqual([markdown, html, bundle].map(({ name }) => name.split(".").at(-1)), ["md", "html", "tar"]);
  assert.deepEqual(complaints, []);

  const address = `file://${path.join(cwd, html.name)}`;
  await writeFile(path.join(cwd, html.name), await readFile(html.file));
  const offline = await browser.newContext();
  const asked = [];
  await offline.route("**", (route) => {
    const url = route.request().url();
    asked.push(url);
    return url === address ? route.continue() : route.abort();
  });
  const saved = await offline.newPage();
  const refused = [];
  saved.on("console", (message) => refused.push(message.text()));
  await saved.goto(address);
  await saved.getByText("fn weave(threads: u32)").waitFor({ state: "attached" });
  const pictures = await saved.locator("img").evaluateAll((all) => Promise.all(all.map(async (one) => (await one.decode(), [one.src.slice(0, 22), one.naturalWidth, one.naturalHeight]))));
  assert.deepEqual(pictures[0], ["data:image/png;base64,", PICTURE.width, PICTURE.height]);
  // The card of a page elsewhere has one where the site could be asked.
  assert.equal(pictures.length, 1 + (await saved.locator("figure.embed img").count()));
  const figures = await saved.locator("figure.output").evaluateAll((all) => all.map((figure) => figure.textContent));
  assert.equal(figures.length, 5);
  for (const [index, words] of [CODE.split("\n")[59], "loom.png", "entry 6000", "exit code 3", "vimeo.com"].entries()) {
    assert.ok(figures[index].includes(words), `${words} is in it`);
  }
  assert.equal(await saved.locator("figure.embed a").getAttribute("href"), VIDEO);
  assert.deepEqual(asked.filter((url) => url !== address && !url.startsWith("data:")), []);
  assert.deepEqual(refused, []);
});
