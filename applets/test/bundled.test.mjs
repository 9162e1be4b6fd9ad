// Tests that each bundled applet shows what it is for, in light and dark, narrow and wide, and does what its buttons say.
// With `SHOTS` set to a folder, what is seen is kept there as pictures.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";

import { EXAMPLES, home } from "./examples.mjs";
import { NO_BROWSER, launchBrowser, startStage } from "./stage.mjs";

const bundled = new URL("../bundled/", import.meta.url);
const axe = new URL("../../web/node_modules/axe-core/axe.min.js", import.meta.url);
const SIZES = [{ width: 320, height: 640 }, { width: 800, height: 600 }];
const options = { skip: NO_BROWSER, timeout: 120_000 };

let browser, stage, axeScript;

before(async () => {
  if (!NO_BROWSER) {
    [browser, stage, axeScript] = await Promise.all([launchBrowser(), startStage(), readFile(axe, "utf8")]);
  }
});
after(async () => {
  await browser?.close();
  stage?.close();
});

async function read(slug) {
  const [html, js, css] = await Promise.all(["content.html", "script.js", "style.css"].map((name) => readFile(new URL(`${slug}/${name}`, bundled), "utf8")));
  return { html, js, css };
}

/** Shows it in a page; `frame` is its document, `host` runs a function in the page around it. */
async function show({ slug, shows, params = {}, ...given }) {
  const tab = await browser.newPage();
  await tab.setViewportSize(SIZES[1]);
  const url = await stage.frame(await read(slug));
  await tab.goto(stage.page([{ ...given, url, context: { throughline: { applet: slug, title: slug, params } } }]));
  const frame = tab.frames()[1];
  await frame.locator("body").getByText(shows).first().waitFor({ timeout: 5_000 });
  const host = (change, value) => tab.evaluate(change, value);
  return {
    tab,
    frame,
    host,
    calls: (method) => host((method) => window.host.frames[0].calls.filter((call) => call.method === method), method),
    errors: () => host(() => window.host.frames[0].errors),
    state: () => host(() => window.host.frames[0].store.state),
  };
}

test("each says of itself what it is, as the server reads it", async () => {
  const slugs = await readdir(bundled);
  assert.deepEqual([...new Set(EXAMPLES.map(({ slug }) => slug))].sort(), slugs.sort());
  for (const slug of slugs) {
    const about = JSON.parse(await readFile(new URL(`${slug}/meta.json`, bundled), "utf8"));
    assert.equal(about.slug, slug);
    assert.ok(about.name && about.description && about.agentUsage.purpose && about.agentUsage.example, slug);
    const { html, js } = await read(slug);
    assert.ok(html.trim() !== "" && !/innerHTML|outerHTML|insertAdjacentHTML|https?:/.test(js), slug);
  }
});

for (const example of EXAMPLES) {
  test(`${example.slug} shows ${example.name}`, options, async () => {
    const { tab, frame, errors, host } = await show(example);
    await frame.evaluate(axeScript);
    for (const theme of ["light", "dark"]) {
      await host((theme) => window.host.frames[0].post({ method: "ui/notifications/host-context-changed", params: { theme } }), theme);
      for (const size of SIZES) {
        await tab.setViewportSize(size);
        const where = `${theme}, ${size.width} px`;
        // A colour may still be on its way.
        await tab.waitForTimeout(200);
        if (process.env.SHOTS) {
          await tab.screenshot({ path: path.join(process.env.SHOTS, `${example.slug}-${example.name.replaceAll(/\W+/g, "-")}-${theme}-${size.width}.png`) });
        }
        assert.deepEqual(await errors(), [], where);
        assert.ok(await frame.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `it is wider than its frame: ${where}`);
        // It is a part of a page, so what only whole pages have is not asked for.
        const rules = Object.fromEntries(["region", "landmark-one-main", "page-has-heading-one", "document-title"].map((rule) => [rule, { enabled: false }]));
        const { violations } = await frame.evaluate((rules) => window.axe.run(document, { rules }), rules);
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), [], where);
      }
    }
    await tab.close();
  });
}

const example = (slug, name) => EXAMPLES.find((one) => one.slug === slug && one.name === name);

test("the counter counts in its state, and follows others who change it", options, async () => {
  const { frame, tab, state, host } = await show({ ...example("counter", "counted"), state: { count: 1 }, shows: "1" });
  await frame.getByRole("button", { name: "One more" }).dblclick();
  await frame.locator("#count").getByText("3").waitFor();
  await tab.waitForFunction(() => window.host.frames[0].store.state.count === 3);
  await host(() => setState(window.host.frames[0].store, { merge: { count: -7 } }));
  await frame.locator("#count").getByText("−7").waitFor();
  await frame.getByRole("button", { name: "Back to zero" }).press("Enter");
  await frame.locator("#count").getByText("0", { exact: true }).waitFor();
  assert.deepEqual(await state(), { count: 0 });
  await tab.close();
});

test("the plan hides what is done and takes up what is offered", options, async () => {
  const { frame, tab, calls, state } = await show(example("plan", "steps and offers"));
  assert.equal(await frame.locator("#steps li").count(), 5);
  await frame.getByLabel("Hide what is done").check();
  await frame.locator("#steps li").nth(3).waitFor({ state: "detached" });
  assert.equal(await frame.locator("#steps li").count(), 3);
  await frame.getByRole("button", { name: "Take it up: Count in parallel" }).click();
  await frame.getByText("Sent to the agent.").waitFor();
  assert.match((await calls("ui/message"))[0].params.content[0].text, /Count in parallel$/);
  assert.deepEqual(await state(), { hideDone: true });
  await tab.close();
});

test("the file browser goes into folders and opens files where they belong", options, async () => {
  const { frame, tab, calls } = await show(example("file-browser", "a folder"));
  await frame.getByRole("button", { name: "src/" }).press("Enter");
  await frame.getByRole("button", { name: "lib.rs" }).click();
  await frame.getByRole("navigation").getByRole("button", { name: "words" }).click();
  await frame.getByRole("button", { name: "sunset.png" }).click();
  assert.deepEqual((await calls("throughline/params")).map(({ params }) => params), [
    { params: { path: `${home}/src` }, history: "push" },
    { params: { path: home }, history: "push" },
  ]);
  assert.deepEqual((await calls("throughline/open-applet")).map(({ params }) => params), [
    { applet: "text-editor", params: { path: `${home}/src/lib.rs` } },
    { applet: "image-viewer", params: { path: `${home}/sunset.png` } },
  ]);
  await tab.close();
});

test("the text editor saves over what it read, and over what somebody else wrote only when it is told to", options, async () => {
  const { frame, tab, host, state } = await show(example("text-editor", "a file"));
  const saved = () => host((path) => window.host.frames[0].files[path], `${home}/src/lib.rs`);
  const text = frame.getByRole("textbox");
  await text.fill("one\n");
  await text.press("Control+s");
  await frame.getByText("Saved.", { exact: true }).waitFor();
  assert.deepEqual(await saved(), { content: "one\n", hash: "a1+" });
  await host((path) => (window.host.frames[0].files[path] = { content: "theirs\n", hash: "z" }), `${home}/src/lib.rs`);
  await text.fill("mine\n");
  await frame.getByRole("button", { name: "Save" }).click();
  await frame.getByText("Somebody changed this file").waitFor();
  assert.equal((await saved()).content, "theirs\n");
  assert.equal(await frame.getByRole("button", { name: "Save" }).isDisabled(), true);
  await frame.getByRole("button", { name: "Overwrite with mine" }).click();
  await frame.getByText("Saved.", { exact: true }).waitFor();
  assert.equal((await saved()).content, "mine\n");
  await tab.waitForFunction(() => Object.keys(window.host.frames[0].store.state.drafts ?? {}).length === 0);
  await host((path) => (window.host.frames[0].files[path] = { content: "theirs again\n", hash: "y" }), `${home}/src/lib.rs`);
  await text.fill("lost\n");
  await text.press("Control+s");
  await frame.getByRole("button", { name: "Reload, and lose my changes" }).click();
  await tab.waitForTimeout(300);
  assert.equal(await text.inputValue(), "theirs again\n");
  await tab.waitForTimeout(800);
  assert.deepEqual((await state()).drafts ?? {}, {});
  await tab.close();
});

test("the text editor keeps what is not saved, and the line ends that a file has", options, async () => {
  const given = { ...example("text-editor", "a file"), params: { path: `${home}/windows.txt` }, shows: "Line 1" };
  const { frame, tab, host, state } = await show(given);
  await frame.getByRole("textbox").fill("one\nthree\n");
  await host(() => window.host.frames[0].ask("t", "ui/resource-teardown"));
  const kept = await state();
  assert.equal(kept.drafts[`${home}/windows.txt`].text, "one\nthree\n");
  await tab.close();
  const again = await show({ ...given, state: kept, shows: "your changes that were not saved" });
  assert.equal(await again.frame.getByRole("textbox").inputValue(), "one\nthree\n");
  await again.frame.getByRole("button", { name: "Save" }).click();
  await again.frame.getByText("Saved.", { exact: true }).waitFor();
  assert.equal((await again.host((path) => window.host.frames[0].files[path], `${home}/windows.txt`)).content, "one\r\nthree\r\n");
  await again.tab.close();
});

test("changed files open their differences, and those their file", options, async () => {
  const status = await show(example("git-status", "changes"));
  await status.frame.getByRole("button", { name: /lib\.rs/ }).click();
  assert.deepEqual((await status.calls("throughline/open-applet"))[0].params, { applet: "git-diff", params: { path: `${home}/src/lib.rs` } });
  await status.tab.close();
  const diff = await show(example("git-diff", "lines"));
  await diff.frame.getByRole("button", { name: "Wrap lines" }).click();
  await diff.frame.locator("#lines.wrapped").waitFor();
  await diff.frame.getByRole("button", { name: "Open file" }).click();
  assert.deepEqual((await diff.calls("throughline/open-applet"))[0].params, { applet: "text-editor", params: { path: `${home}/src/lib.rs`, line: "4" } });
  await diff.tab.close();
});

test("the applet browser finds applets by their words and opens them", options, async () => {
  const { frame, tab, calls } = await show(example("applet-browser", "applets"));
  await frame.getByLabel("Find an applet").fill("checklist");
  await frame.getByText("1 found.").waitFor();
  await frame.getByRole("button").click();
  assert.deepEqual((await calls("throughline/open-applet"))[0].params, { applet: "release-checklist", params: {} });
  await tab.close();
});
