// Tokens and cost: what a turn, the session and everything used, and that what nobody knows is said to be unknown.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAccessibility } from "./axe.mjs";
import { composer, createSession, DESKTOP, newPage, open, PHONE, signIn, state, turn } from "./support.mjs";

const CONFIG = `[usage]\nwarn_session = "0.6 USD"\nwarn_day = "0.7 USD"\n`;

for (const viewport of [DESKTOP, PHONE]) {
  const isPhone = viewport === PHONE;
  test(`what it costs, at ${viewport.width} px`, async (t) => {
    const { server, browser } = await open(t, { config: CONFIG });
    const { page, complaints } = await newPage(browser, isPhone ? { viewport, hasTouch: true, isMobile: true } : { viewport });
    await signIn(page, server.link());
    await createSession(page, { name: "spending" });
    const say = async (number, words) => {
      await composer(page).fill(words);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await turn(page, number).waitFor();
      await state(page, "Idle").waitFor();
    };
    const ofTurn = (number) => turn(page, number).getByRole("button", { name: `Usage of turn ${number}` });
    const ofSession = page.locator("main header").getByRole("button", { name: "Usage of this session" });

    // No click: it stands there.
    await say(1, "spend 1200 300 0.25");
    await ofTurn(1).getByText("1.5k tokens · $0.25").waitFor();
    const tokens = (words) => (isPhone ? "" : `${words} tokens · `);
    await ofSession.getByText(`${tokens("1.5k")}$0.25`).waitFor();
    await say(2, "say hello");
    await ofSession.getByText(`${tokens("1.5k")}$0.25 + unknown`).waitFor();
    assert.equal(await ofTurn(2).count(), 0, "of what nobody counted there is no line");
    assert.equal(await page.getByRole("status").getByText("This session has cost").count(), 0);
    await say(3, "spend 2000 500 0.5");
    await ofSession.getByText(`${tokens("4.0k")}$0.75 + unknown`).waitFor();
    await page.getByText("This session has cost $0.75, more than the $0.60 that you set.").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width, "nothing is wider than the screen");

    // One press: all that is known.
    await ofTurn(3).click();
    const details = page.getByRole("group", { name: "Usage of turn 3" });
    await details.getByText("2,000").waitFor();
    await details.getByText("The agent said what it cost.").waitFor();
    await checkAccessibility(page, "details of a turn");
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "hidden" });

    // Everything: two presses on a phone, one beside a list.
    if (isPhone) {
      await page.getByRole("link", { name: "Back to the sessions" }).click();
    }
    await page.getByRole("link", { name: "Usage", exact: true }).locator("visible=true").first().click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    const byAgent = page.getByRole("region", { name: "By agent, table" });
    await byAgent.getByRole("row", { name: /guide/ }).getByText("$0.75 + unknown").waitFor();
    await page.getByRole("figure", { name: "Cost by day" }).waitFor();
    await page.getByText("1 of 3 turns did not report usage.").waitFor();
    await page.locator("main").getByText("Today has cost $0.75, more than the $0.70 that you set.").waitFor();
    await checkAccessibility(page, "usage");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width, "nothing is wider than the screen");
    await page.getByRole("button", { name: "Tokens" }).click();
    await page.getByRole("figure", { name: "Tokens by day" }).waitFor();
    await page.getByRole("button", { name: "7 days" }).click();
    await byAgent.getByRole("row", { name: /guide/ }).waitFor();

    // A crash counts nothing twice.
    await server.end("SIGKILL");
    await server.restart();
    await page.reload();
    await byAgent.getByRole("row", { name: /guide/ }).getByText("$0.75 + unknown").waitFor();
    assert.deepEqual(complaints.filter((words) => !/WebSocket|ERR_CONNECTION|Failed to load resource/.test(words)), []);
  });
}

test("the page is found from the palette, and says what to do before anything was used", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, { viewport: DESKTOP });
  await signIn(page, server.link());
  await page.getByRole("heading", { name: "Start with one session" }).locator("visible=true").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).fill("usage");
  await page.getByRole("option", { name: /^Usage/ }).click();
  await page.getByText("No turn has ended in this time.").waitFor();
  await checkAccessibility(page, "usage without any");
});
