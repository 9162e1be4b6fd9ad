// The settings, at both sizes: each value with its source and the line that changes it, agents that are tested, devices that
// are let in and out, themes that hold from the first paint, and axe on every page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAccessibility } from "./axe.mjs";
import { comesToBe, createSession, DESKTOP, newPage, open, PHONE, signIn } from "./support.mjs";

const CONFIG = `# mine
[limits]
max_agents = 7

[agents.mine]
command = "/nowhere/agent"
env = { KEY = "canary-4711" }
`;
const PAGES = ["General", "Agents", "Permissions", "Devices and tokens", "Sessions", "Server"];

const section = (page, name) => page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name });

for (const viewport of [DESKTOP, PHONE]) {
  test(`settings say where they come from, agents are tested, devices revoked, at ${viewport.width} px`, async (t) => {
    const { server, browser } = await open(t, { config: CONFIG });
    const { page, complaints } = await newPage(browser, { viewport, reducedMotion: "reduce" });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await signIn(page, server.link());
    // One press from the list.
    await page.getByRole("link", { name: "Settings" }).click();
    for (const name of PAGES) {
      await section(page, name).click();
      await page.getByRole("heading", { name, level: 2 }).waitFor();
      await comesToBe(() => page.getByText(/^(?:Loading|Looking for agents)…$/).count(), 0);
      await checkAccessibility(page, name);
      assert.ok(!(await page.content()).includes("canary-4711"), "no secret is on the page");
    }

    const row = page.getByRole("listitem").filter({ has: page.getByText("max_agents", { exact: true }) });
    await row.getByText("config.toml, line 3").waitFor();
    await row.getByRole("button", { name: "How to change it" }).click();
    await row.getByText(/^In place of line 3 of .*config\.toml$/).waitFor();
    await row.getByRole("button", { name: "Copy the line for max_agents" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "max_agents = 7");
    const listen = page.getByRole("listitem").filter({ has: page.getByText("listen", { exact: true }) });
    await listen.getByText("Set by the flag --listen").waitFor();

    await section(page, "Agents").click();
    await page.getByRole("button", { name: "Test it: Guide" }).click();
    await page.getByText(/^Guide .* started, opened a session and was stopped again/).waitFor();

    await section(page, "Devices and tokens").click();
    const other = await newPage(browser);
    await signIn(other.page, await server.freshLink());
    await page.reload();
    await page.getByRole("button", { name: "Revoke browser" }).last().click();
    await page.getByRole("button", { name: "Sign out browser for good" }).click();
    await other.page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    await page.getByRole("button", { name: "Add a phone" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a phone" });
    await dialog.getByText(`tailscale serve --bg ${new URL(server.origin).port}`).waitFor();
    await checkAccessibility(page, "add a phone");
    await page.keyboard.press("Escape");
    assert.deepEqual(complaints, []);
  });
}

test("a chosen theme holds from the first paint on, in every tab", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, { colorScheme: "light" });
  await signIn(page, server.link());
  const ground = (of) => of.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground(page);
  await page.goto(`${server.origin}/settings`);
  const second = await page.context().newPage();
  await second.goto(server.origin);
  await page.getByRole("radio", { name: /^Dark/ }).check();
  assert.notEqual(await ground(page), light);
  await second.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  // What is there before any script of the page has run.
  await page.route(/\/assets\/.*\.js$/, (route) => route.abort());
  await page.goto(`${server.origin}/settings`).catch(() => undefined);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.notEqual(await ground(page), light);
  await page.unroute(/\/assets\/.*\.js$/);
  for (const [name, theme] of [["High contrast", "contrast"], ["Light", "light"]]) {
    await page.goto(`${server.origin}/settings`);
    await page.getByRole("radio", { name: new RegExp(`^${name}`) }).check();
    const [set, fading] = await page.evaluate(() => [document.documentElement.dataset.theme, document.getAnimations().filter(({ transitionProperty }) => transitionProperty === "color").length]);
    assert.deepEqual([set, fading], [theme, 0]);
    // The bar of a phone's browser has the page's ground.
    assert.equal(await page.evaluate(() => document.querySelector("meta[name=theme-color]").content), await ground(page));
    await checkAccessibility(page, name);
  }
  await createSession(page, { name: "in contrast" });
});
