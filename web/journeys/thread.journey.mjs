// Many sessions, one thread: what was read stays above when a step is taken, earlier sessions come when they are scrolled
// to, and a piece of work is one entry of the picker and one list of contents.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAccessibility } from "./axe.mjs";
import { comesToBe, createSession, ended, newPage, open, PHONE, send, signIn, state, turn } from "./support.mjs";

function step(page, label) {
  return page.getByRole("group", { name: "Next step" }).filter({ hasText: label }).last();
}

/** Where a session begins in the transcript. */
function head(page, words) {
  return page.getByRole("region", { name: /begins here$/ }).filter({ hasText: words });
}

/** Where the transcript stands, once some frames in a row agree. */
function atRest(page) {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        const log = document.querySelector("[role=log]");
        const look = (before, agreed) => {
          const { scrollTop } = log;
          if (scrollTop === before && agreed === 3) resolve(scrollTop);
          else window.requestAnimationFrame(() => look(scrollTop, scrollTop === before ? agreed + 1 : 0));
        };
        look(-1, 0);
      }),
  );
}

async function take(page, label) {
  const before = new URL(page.url()).pathname;
  await step(page, label).getByRole("button", { name: label }).click();
  await page.waitForURL((url) => /^\/s\//.test(url.pathname) && url.pathname !== before);
  return new URL(page.url()).pathname.split("/").at(-1);
}

/** Two sessions of the work “loom”, and the one that they were begun from. */
async function pipeline(page) {
  const origin = await createSession(page, { name: "Where it began" });
  await send(page, "pipeline loom");
  const first = await take(page, "Begin with the research");
  await turn(page, 1, "Phase research of").waitFor();
  const second = await take(page, "Write the requirements");
  await turn(page, 1, "Phase requirements of").waitFor();
  await state(page, "Idle").waitFor();
  return { origin, first, second };
}

test("what was on screen stays above the session that a step begins, and cannot be acted on there", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  const { origin } = await pipeline(page);
  await head(page, "Work loom · step Write the requirements").waitFor();
  await head(page, "Work loom · step Begin with the research").waitFor();
  const above = page.getByRole("article", { name: "Turn 1 of an earlier session" }).filter({ hasText: "Phase research of" });
  await above.getByText(/Went on in/).waitFor();
  assert.equal(await above.getByRole("button", { name: "Edit and send again" }).count(), 0);
  assert.equal(await page.locator("#t1").count(), 1);
  assert.equal(await page.getByRole("textbox", { name: "Prompt for guide" }).count(), 1);
  assert.ok((await page.locator("#t1").textContent()).includes("Brought along from the session before"));
  // Back takes the last session away again, and what was above it is the open one.
  await page.goBack();
  await turn(page, 1, "Phase research of").waitFor();
  await page.goBack();
  await turn(page, 1, "pipeline loom").waitFor();
  assert.ok(page.url().endsWith(origin));
  assert.deepEqual(complaints, []);
});

test("a session of a work is opened alone; those before it come when they are scrolled to, and nothing jumps", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  const { second } = await pipeline(page);
  for (let number = 2; number <= 7; number += 1) {
    await send(page, "long 150");
    await turn(page, number, "word150").waitFor();
  }
  await page.goto(`${server.origin}/s/${second}`);
  await turn(page, 7, "word150").waitFor();
  const log = page.getByRole("log");
  const box = await log.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  // Near to the beginning, but not at it.
  for (let top = await atRest(page); top > 400; top = await atRest(page)) {
    await page.mouse.wheel(0, -Math.min(250, top - 380));
  }
  assert.equal(await page.getByRole("article", { name: /of an earlier session/ }).count(), 0);
  const place = () => page.locator("#t2").evaluate((element) => element.getBoundingClientRect().top);
  const before = await place();
  await page.mouse.wheel(0, -200);
  await head(page, "phase research loom").waitFor({ state: "attached" });
  await atRest(page);
  assert.ok(Math.abs((await place()) - (before + 200)) <= 1, `turn 2 was at ${before} and is at ${await place()}`);
  // And on, to where the work was begun from; nothing is before that.
  while ((await head(page, "Where it began").count()) === 0) {
    await page.mouse.wheel(0, -300);
    await page.evaluate(() => new Promise(window.requestAnimationFrame));
  }
  assert.deepEqual(complaints, []);
});

test("the session that a step was taken in is above, also after a reload; a step whose session was deleted says so", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  const origin = await createSession(page, { name: "Where it began" });
  await send(page, "next Spin the yarn | say spun | loom");
  const first = await take(page, "Spin the yarn");
  await ended(page, 1, "spun");
  await page.goto(`${server.origin}/s/${origin}`);
  await send(page, "next Dye the yarn | say dyed | loom");
  await take(page, "Dye the yarn");
  await ended(page, 1, "dyed");
  await head(page, "Where it began").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Show the session before" }).click();
  await head(page, "Where it began").waitFor({ state: "attached" });
  assert.equal(await page.getByRole("heading", { name: "say spun", exact: true }).count(), 0);

  await page.goto(`${server.origin}/s/${first}`);
  await ended(page, 1, "spun");
  await page.getByRole("button", { name: "More of this session" }).click();
  await page.getByRole("button", { name: "Delete session" }).click();
  await page.waitForURL(`${server.origin}/`);
  await page.goto(`${server.origin}/s/${origin}`);
  const gone = step(page, "Spin the yarn");
  await gone.getByText("Went on in a session that was deleted").waitFor();
  assert.equal(await gone.getByRole("link").count(), 0);
  await step(page, "Dye the yarn").getByRole("link").waitFor();
  // The server is asked what became of it.
  assert.deepEqual(complaints.filter((words) => !words.includes("404")), []);
});

test("the contents of the whole work go along with a reader who goes up into the session before", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser, { viewport: { width: 1440, height: 600 } });
  await signIn(page, server.link());
  await pipeline(page);
  await page.getByRole("button", { name: "The whole work" }).click();
  const read = page.getByRole("navigation", { name: "Contents of the whole work" }).locator("a[aria-current=location]");
  const number = async () => (await read.count()) === 1 && (await read.locator("span").first().textContent());
  await comesToBe(number, "2");
  await page.getByRole("log").hover();
  for (let tries = 0; (await number()) !== "1" && tries < 200; tries++) {
    await page.mouse.wheel(0, -60);
    await atRest(page);
  }
  await comesToBe(number, "1");
  await page.mouse.wheel(0, 20_000);
  await comesToBe(number, "2");
  assert.deepEqual(complaints, []);
});

test("the picker lists works and sessions apart, called as the configuration says, and a work leads to its newest session", async (t) => {
  const { server, browser } = await open(t, { config: '[page]\nspecs_label = "Projects"\n' });
  const { page, complaints } = await newPage(browser);
  await signIn(page, server.link());
  const { origin, first, second } = await pipeline(page);
  await page.goto(`${server.origin}/s/${first}`);
  await turn(page, 1, "Phase research of").waitFor();
  await page.getByRole("log").focus();
  await page.keyboard.press("g");
  const picker = page.getByRole("dialog", { name: "Go to a session" });
  const options = async () => (await picker.getByRole("option").allTextContents()).map((text) => text.trim());
  await comesToBe(options, ["loom", "Where it began"]);
  assert.equal(await picker.getByRole("option", { name: "loom" }).getAttribute("aria-selected"), "true");
  assert.deepEqual(await picker.getByRole("group", { name: "Projects" }).getByRole("option").allTextContents(), ["loom"]);
  await checkAccessibility(page);
  await page.keyboard.type("where");
  await comesToBe(options, ["Where it began"]);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/s/${origin}`);

  await page.getByRole("button", { name: "Sessions; go to another session" }).click();
  await picker.getByRole("option").first().waitFor();
  await page.keyboard.type("loo");
  await comesToBe(options, ["loom"]);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/s/${second}`);
  await turn(page, 1, "Phase requirements of").waitFor();

  // The contents of the whole work lead to another session of it.
  await page.getByRole("button", { name: "The whole work" }).click();
  const whole = page.getByRole("navigation", { name: "Contents of the whole work" });
  await whole.getByRole("link").first().click();
  await page.waitForURL(`**/s/${first}#t1`);
  assert.deepEqual(complaints, []);
});

test("on a phone the picker is a page of its own", async (t) => {
  const { server, browser } = await open(t);
  const desk = await newPage(browser);
  await signIn(desk.page, server.link());
  const { first, second } = await pipeline(desk.page);
  const { page, complaints } = await newPage(browser, { viewport: PHONE, hasTouch: true, colorScheme: "dark" });
  await signIn(page, await server.freshLink());
  await page.goto(`${server.origin}/s/${first}`);
  await page.getByRole("button", { name: "Work loom; go to another session" }).tap();
  await page.getByRole("option", { name: "loom" }).waitFor();
  await checkAccessibility(page);
  await page.getByRole("option", { name: "loom" }).tap();
  await page.waitForURL(`**/s/${second}`);
  assert.deepEqual(complaints, []);
});
