// Finding one's way: the contents, titles and their history, the palette, finding in a session, links to turns.
import assert from "node:assert/strict";
import { test } from "node:test";

import { composer, createSession, newPage, open, send, signIn, state, TOUCH_PHONE } from "./support.mjs";

/** Sends prompts one after the other, each when the one before has ended. */
async function converse(page, ...prompts) {
  for (const prompt of prompts) {
    await composer(page).fill(prompt);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.waitForFunction((text) => [...document.querySelectorAll("article h2")].some((words) => words.textContent === text), prompt);
    await page.getByRole("button", { name: "Stop" }).first().waitFor({ state: "detached" });
    await state(page, "Idle").waitFor();
  }
}

const contents = (page) => page.getByRole("navigation", { name: "Contents" });
const line = (page, words) => contents(page).getByRole("link", { name: words });
const inView = (page, number) => page.locator(`nav[aria-label=Contents] a[data-turn="${number}"][aria-current=location]`);

/** Waits until the turn's first line is within the transcript's window. */
const untilSeen = (page, number) =>
  page.waitForFunction((name) => {
    const log = document.querySelector("[role=log]")?.getBoundingClientRect();
    const turn = document.getElementById(name)?.getBoundingClientRect();
    return log !== undefined && turn !== undefined && turn.top >= log.top - 2 && turn.top < log.bottom;
  }, `t${number}`);

test("the contents have a line a turn as it comes, and lead to each turn", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser, { viewport: { width: 1440, height: 600 } });
  await signIn(page, server.link());
  await createSession(page);
  await contents(page).getByText("Each turn will have a line here.").waitFor();
  await converse(page, "long 200", "say The shuttle flies over the weft", "long 220");

  // Its prompt until it is summed up, which comes with its end.
  await send(page, "slow 3600");
  await line(page, /Turn 4 “slow 3600” Running/).waitFor();
  await page.getByRole("button", { name: "Stop" }).first().click();
  await line(page, /Turn 4 .*Stopped/).waitFor();
  await inView(page, 4).waitFor();

  await line(page, /Turn 1 /).click();
  await untilSeen(page, 1);
  await inView(page, 1).waitFor();
  assert.equal(new URL(page.url()).hash, "#t1");

  // By the keyboard: one stop, then the arrows.
  await line(page, /Turn 1 /).focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.turn), "2");
  await page.keyboard.press("End");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.turn), "4");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await untilSeen(page, 3);
  await inView(page, 3).waitFor();

  // Where the reader goes, the contents go along.
  await page.getByRole("log").hover();
  await page.mouse.wheel(0, -4_000);
  await inView(page, 1).waitFor();

  await page.getByRole("button", { name: "Contents" }).click();
  await contents(page).waitFor({ state: "detached" });
  await page.reload();
  await composer(page).waitFor();
  assert.equal(await contents(page).count(), 0, "remembered");
  await page.keyboard.press("Escape");
  await page.getByRole("log").focus();
  await page.keyboard.press("t");
  await contents(page).waitFor();
  assert.deepEqual(complaints, []);
});

test("on a phone the contents are a sheet, and a turn's link is in its menu", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, { ...TOUCH_PHONE, permissions: ["clipboard-read", "clipboard-write"] });
  await signIn(page, server.link());
  const session = await createSession(page);
  await converse(page, "long 200", "long 210");
  await page.getByRole("button", { name: "Contents" }).tap();
  const sheet = page.getByRole("dialog", { name: "Contents" });
  await sheet.getByRole("link", { name: /Turn 1 / }).tap();
  await sheet.waitFor({ state: "detached" });
  await untilSeen(page, 1);

  await page.getByRole("button", { name: "More of turn 1" }).tap();
  // The word is there for a moment only: whoever looks begins before.
  await Promise.all([page.getByText("Copied", { exact: true }).waitFor(), page.getByRole("button", { name: "Copy the link to this turn" }).tap()]);
  assert.equal(await page.evaluate(() => window.navigator.clipboard.readText()), `${server.origin}/s/${session}#t1`);
});

test("a title shows what the session was called before, and a name is pinned until it is let go", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page);
  await converse(page, "say We mend the loom");
  const heading = page.locator("main h1");
  await heading.getByText(/loom/).waitFor();
  const given = await heading.textContent();

  await heading.getByRole("button").hover();
  const card = page.getByRole("group", { name: "Titles of this session" });
  await card.getByRole("link", { name: /loom.*t1/ }).waitFor();
  assert.equal(await card.getByRole("button", { name: "Unpin" }).count(), 0);
  await page.mouse.move(700, 500);
  await card.waitFor({ state: "detached" });

  await heading.getByRole("button").click();
  await page.getByRole("textbox", { name: "Name of the session" }).fill("Mine");
  await page.keyboard.press("Enter");
  await heading.getByText("Mine").waitFor();
  await page.getByRole("button", { name: "Earlier titles; this name is pinned" }).click();
  await card.getByRole("button", { name: "Unpin" }).click();
  await heading.getByText(given).waitFor();
  await page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });

  // The same on the list, for whoever rests there.
  await page.goto(server.origin);
  await page.getByRole("link", { name: /loom/ }).hover();
  await page.getByRole("group", { name: /^Titles of “/ }).getByRole("link", { name: /t1/ }).click();
  await untilSeen(page, 1);
  assert.equal(new URL(page.url()).hash, "#t1");
  assert.deepEqual(complaints, []);
});

test("the palette finds words in every session as they are typed and leads to the turn", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser, { viewport: { width: 1440, height: 600 } });
  await signIn(page, server.link());
  const first = await createSession(page, { name: "dyeing" });
  await converse(page, "say 😀 The indigo vat is ready", "long 250", "long 260");
  await createSession(page, { name: "weaving" });
  await converse(page, "say The shuttle needs wax");

  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search" });
  await palette.getByRole("option", { name: /dyeing/ }).waitFor();
  await palette.getByRole("option", { name: /New session/ }).waitFor();
  await page.keyboard.type("indigo");
  const found = palette.getByRole("group", { name: "dyeing" }).getByRole("option");
  await found.filter({ hasText: "t1" }).first().waitFor();
  // Characters before it that count twice in a browser move no mark.
  assert.equal(await found.filter({ hasText: "t1" }).locator("mark").first().textContent(), "indigo");
  await page.keyboard.press("Enter");
  await palette.waitFor({ state: "detached" });
  await untilSeen(page, 1);
  assert.equal(page.url(), `${server.origin}/s/${first}#t1`);

  // A filter is completed, and holds.
  await page.keyboard.press("Control+k");
  await palette.getByRole("option", { name: "indigo" }).waitFor();
  await page.keyboard.type("say role:pro");
  await palette.getByRole("option", { name: /role:prompt/ }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await palette.getByRole("combobox").inputValue(), "say role:prompt ");
  await palette.getByText("2 matches in 2 sessions").waitFor();

  // Inside of words only the exact text is found; what means nothing is said.
  await palette.getByRole("combobox").fill("ndig");
  await palette.getByText("Nothing was found").waitFor();
  await page.keyboard.press("Shift+Enter");
  await found.first().waitFor();
  await page.keyboard.press("Shift+Enter");
  await palette.getByRole("combobox").fill("indigo exit:often");
  await palette.getByText(/exit:often was left out/).waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("words are found in the whole session and marked in what is drawn of it", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser, { viewport: { width: 1440, height: 600 } });
  await signIn(page, server.link());
  await createSession(page);
  await converse(page, "say The shuttle flies", "long 250", "long 260", "say A shuttle rests");
  const bar = page.getByRole("search", { name: "Find in this session" });
  await page.keyboard.press("Control+f");
  await page.keyboard.type("shuttle");
  // The reader is at the end, so that is where it begins.
  await bar.getByText("2 of 2 turns").waitFor();
  await inView(page, 4).waitFor();
  const marked = () => page.evaluate(() => [...(window.CSS.highlights.get("found") ?? [])].map(String));
  await page.waitForFunction(() => window.CSS.highlights.get("found")?.size > 0);
  assert.ok((await marked()).every((words) => words === "shuttle"));
  await page.keyboard.press("Enter");
  await bar.getByText("1 of 2 turns").waitFor();
  await untilSeen(page, 1);
  await bar.getByRole("button", { name: "Previous turn" }).click();
  await bar.getByText("2 of 2 turns").waitFor();

  // The second press is the browser's.
  await bar.getByRole("textbox").focus();
  const taken = await page.evaluate(() => {
    const press = new window.KeyboardEvent("keydown", { key: "f", ctrlKey: true, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(press);
    return press.defaultPrevented;
  });
  assert.equal(taken, false);
  await page.keyboard.press("Escape");
  await bar.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => window.CSS.highlights.has("found")), false);
  assert.deepEqual(complaints, []);
});
