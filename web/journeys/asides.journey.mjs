// An agent that asks while no turn runs: the question waits at the end of the transcript, is answered there, and stays
// where it was asked; in both sizes and both colour schemes, with axe looking on.
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";

import { checkAccessibility as check } from "./axe.mjs";
import { openStage, sendTo } from "./stage.mjs";
import { browserForAll, DESKTOP, leaveAll, newPage, PHONE, signIn, state, turn } from "./support.mjs";

for (const [viewport, colorScheme] of [[DESKTOP, "light"], [PHONE, "dark"]]) {
  test(`a question between turns is answered at the end, at ${viewport.width} px, ${colorScheme}`, async (t) => {
    const stage = await openStage();
    const browser = await browserForAll();
    t.after(async () => {
      await leaveAll(browser);
      await stage.end();
    });
    const { page, complaints } = await newPage(browser, { viewport, colorScheme, reducedMotion: "reduce" });
    await signIn(page, stage.server.link());
    const session = await stage.begin("stage", tmpdir(), "watched");
    await page.goto(`${stage.server.origin}/s/${session}`);
    await sendTo(page, "afterwards");
    const asked = page.getByRole("region", { name: "Asked while no turn was running" });
    await asked.getByRole("region", { name: "Exactly this" }).filter({ hasText: "make watch" }).waitFor();
    await state(page, "Needs you").waitFor();
    await check(page, "waiting");
    if (process.env.SHOTS) {
      await page.screenshot({ path: `${process.env.SHOTS}/waiting-${viewport.width}-${colorScheme}.png` });
    }
    // It is found in the list, and a browser that comes later sees it too.
    const { page: list } = await newPage(browser, { viewport, colorScheme });
    await signIn(list, await stage.server.freshLink());
    await list.getByRole("link", { name: /watched.*Needs you/ }).waitFor();

    await asked.getByRole("button", { name: "Allow once" }).click();
    await asked.getByText(/^Allowed once by/).waitFor();
    await asked.getByRole("region", { name: "Exactly this" }).filter({ hasText: "make test" }).waitFor();
    // A turn that comes meanwhile leaves it open and below.
    await sendTo(page, "say more");
    await turn(page, 2, "What changed").waitFor();
    await page.getByRole("region", { name: "Asked while no turn was running" }).last().getByRole("button", { name: "Reject" }).click();
    await page.getByText(/^Rejected by/).waitFor();
    await state(page, "Idle").waitFor();
    await check(page, "settled");
    if (process.env.SHOTS) {
      await page.screenshot({ path: `${process.env.SHOTS}/settled-${viewport.width}-${colorScheme}.png` });
    }
    assert.deepEqual(complaints, []);
  });
}
