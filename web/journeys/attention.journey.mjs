// What a glance tells: which session this is, at every width, and how many sessions wait for an answer.
import assert from "node:assert/strict";
import { test } from "node:test";

import { comesToBe, composer, createSession, newPage, open, PHONE, send, signIn, state, turn } from "./support.mjs";

const TITLE = "Refuse entries that leave a gap in the log";

for (const width of [PHONE.width, 820, 1024, 1280]) {
  test(`a title of ${TITLE.length} letters is whole at ${width} px, and so is how the session stands`, async (t) => {
    const { server, browser } = await open(t);
    const { page } = await newPage(browser, { viewport: { width, height: 844 } });
    await signIn(page, server.link());
    await createSession(page, { name: TITLE });
    await send(page, "run echo hello");
    await state(page, "Needs you").waitFor();
    const head = page.locator("main .session-header");
    const cut = await head.locator("h1 span, [data-part=status] p > span:not([aria-hidden]):not(:has(bdi))").evaluateAll((parts) =>
      parts.filter(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => clientWidth > 0 && (scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 2)).map(({ textContent }) => textContent),
    );
    assert.deepEqual(cut, []);
    await head.getByText("Needs you").and(page.locator(":visible")).waitFor();
  });
}

test("whoever needs an answer is counted in the list and in the window's title, until it is given", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  for (const name of ["first", "second"]) {
    await createSession(page, { name });
    await send(page, `run echo ${name}`);
    await state(page, "Needs you").waitFor();
  }
  const sessions = page.getByRole("navigation", { name: "Sessions" });
  await sessions.getByText("2 need you").waitFor();
  await comesToBe(() => page.title(), "(2) second · Throughline");
  await page.getByRole("button", { name: /^Allow once/ }).click();
  await turn(page, 1, "Allowed once by").waitFor();
  await sessions.getByText("1 needs you").waitFor();
  await comesToBe(() => page.title(), "(1) second · Throughline");
});

test("a question is answered by a key that does nothing else, and the focus stays in its place", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { name: "keys" });
  await send(page, "run echo first");
  const question = page.getByRole("region", { name: /^Needs you/ });
  await question.waitFor();
  // A letter that is written is none that answers.
  await page.keyboard.type("yan");
  await question.waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await turn(page, 1, "Rejected by").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await send(page, "run echo second");
  await question.getByRole("button", { name: "Reject" }).focus();
  await page.keyboard.press("y");
  await turn(page, 2, "Allowed once by").waitFor();
  await comesToBe(() => page.evaluate(() => document.activeElement.textContent.startsWith("Allowed once by")), true);
});

test("words typed into a waiting prompt are in the composer once its turn has begun", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { name: "late" });
  await send(page, "slow 3600");
  await turn(page, 1, "Taking 3600 s.").waitFor();
  await send(page, "say hello");
  await page.getByRole("button", { name: "Change the waiting prompt" }).click();
  await page.keyboard.type(" and goodbye");
  await page.getByRole("button", { name: "Stop" }).first().click();
  await turn(page, 2, "hello").waitFor();
  await comesToBe(() => composer(page).inputValue(), "say hello and goodbye");
});
