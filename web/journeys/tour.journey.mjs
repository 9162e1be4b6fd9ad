// A newcomer is shown around: from the first page on, one press a stop, until the dialog for a session of one's own.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAccessibility } from "./axe.mjs";
import { DESKTOP, newPage, open, PHONE, signIn, turn } from "./support.mjs";

for (const viewport of [DESKTOP, PHONE]) {
  test(`the tour takes one press a stop, at ${viewport.width} px`, async (t) => {
    const { server, browser } = await open(t);
    const { page, complaints } = await newPage(browser, { viewport, reducedMotion: "reduce" });
    await signIn(page, server.link());
    await page.getByRole("button", { name: "Show me around" }).locator("visible=true").click();
    await turn(page, 1, "Contents.").waitFor();
    const next = (name) => page.getByRole("region", { name: "Tour" }).getByRole("button", { name });
    await next("Next: a question").click();
    const question = turn(page, 2, "A question.");
    if (viewport === DESKTOP) {
      // Letters go into the prompt while it has the focus, also into an empty one, and the question says so.
      const prompt = page.getByRole("textbox", { name: /^Prompt for / });
      await prompt.focus();
      await question.getByText(/^You are writing: to answer by key, press Esc first/).waitFor();
      await page.keyboard.type("yan");
      assert.equal(await prompt.inputValue(), "yan");
      await prompt.fill("");
      await page.keyboard.press("Escape");
      await question.getByText(/^Or press y, a or n/).waitFor();
      await question.getByText(/^You are writing/).waitFor({ state: "hidden" });
    }
    await question.getByRole("button", { name: /^Allow once/ }).click();
    await turn(page, 2, "What you answered is stored").waitFor();
    await checkAccessibility(page, "tour");
    await next("Next: an edit").click();
    await turn(page, 3, "I wrote tour.md.").waitFor();
    await next("Next: a next step").click();
    await turn(page, 4).getByRole("button", { name: /Go to the last stop/ }).click();
    await page.getByRole("log").getByText("This is a second session").waitFor();
    if (viewport === DESKTOP) {
      // Both sessions are one piece of work, as the guide says: one row with another one behind it.
      await page.getByRole("navigation", { name: "Sessions" }).getByRole("button", { name: "1 more" }).waitFor();
    }
    await checkAccessibility(page, "the end of the tour");
    await next("Begin your own session").click();
    const dialog = page.getByRole("dialog", { name: "New session" });
    await dialog.waitFor();
    await dialog.getByRole("button", { name: "Start session" }).click();
    await page.getByText("Nothing has been said yet.").waitFor();
    assert.deepEqual(complaints, []);
  });
}

test("hints are there when something is first met, and never again once dismissed", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await page.getByRole("button", { name: "Show me around" }).locator("visible=true").click();
  const contents = page.getByText("One line for each turn, written as it ends.");
  await contents.waitFor();
  await page.getByRole("complementary", { name: "Contents" }).getByRole("button", { name: "Dismiss this hint" }).click();
  await contents.waitFor({ state: "detached" });
  await page.reload();
  await turn(page, 1, "Contents.").waitFor();
  assert.equal(await contents.count(), 0);
});
