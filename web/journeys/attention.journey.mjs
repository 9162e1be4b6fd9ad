// What a glance tells: which session this is, at every width, and how many sessions wait for an answer.
import assert from "node:assert/strict";
import { test } from "node:test";

import { comesToBe, createSession, newPage, open, PHONE, send, signIn, state, turn } from "./support.mjs";

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
