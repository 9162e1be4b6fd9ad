// The everyday of a reader with a keyboard: a prompt is changed and sent in a fork, turns are stepped through, a turn is
// stopped by Escape, everything is found by its name, and a lost connection is told where one looks.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAccessibility } from "./axe.mjs";
import { comesToBe, composer, createSession, DESKTOP, newPage, open, PHONE, send, signIn, state, turn } from "./support.mjs";

for (const viewport of [PHONE, DESKTOP]) {
  const phone = viewport === PHONE;
  test(`a prompt is changed and sent in a fork at ${viewport.width} px, and both sessions say so`, async (t) => {
    const { server, browser } = await open(t);
    const { page } = await newPage(browser, { viewport, hasTouch: phone, isMobile: phone });
    await signIn(page, server.link());
    await createSession(page, { name: "the loom" });
    for (const word of ["one", "two", "three"]) {
      await composer(page).fill(`say ${word}`);
      await page.getByRole("button", { name: /^Send/ }).click();
      await turn(page, { one: 1, two: 2, three: 3 }[word], word).waitFor();
    }
    await state(page, "Idle").waitFor();
    const first = page.url();
    // Two presses: the pencil and the button; under a finger the menu comes before.
    if (phone) {
      await page.getByRole("button", { name: "More of turn 2" }).tap();
    } else {
      await turn(page, 2).hover();
    }
    await (phone ? page.getByRole("button", { name: "Edit and send in a fork" }) : turn(page, 2).getByRole("button", { name: "Edit and send in a fork" })).click();
    const dialog = page.getByRole("dialog", { name: "Edit the prompt of turn 2 and send it in a fork" });
    assert.equal(await dialog.getByRole("textbox").inputValue(), "say two");
    await checkAccessibility(page, "everyday");
    await dialog.getByRole("textbox").fill("say otherwise");
    await dialog.getByRole("button", { name: "Fork and send" }).click();
    await turn(page, 1, "otherwise").waitFor();
    assert.notEqual(page.url(), first);
    await checkAccessibility(page, "everyday");
    const back = page.getByRole("link", { name: "turn 1 of the loom" });
    await back.click();
    await page.getByRole("note").filter({ hasText: "Forked from turn 1 into" }).waitFor();
    assert.equal(new URL(page.url()).pathname, new URL(first).pathname);
    await turn(page, 3, "three").waitFor();
  });
}

test("turns are stepped through, everything is found by name, and Escape stops a turn when pressed twice", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, { viewport: { ...DESKTOP, height: 500 } });
  await signIn(page, server.link());
  await createSession(page, { name: "steps" });
  for (let number = 1; number <= 4; number += 1) {
    await send(page, "long 150");
    await turn(page, number, "word150").waitFor();
  }
  await state(page, "Idle").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+K");
  await comesToBe(() => new URL(page.url()).hash, "#t3");
  await page.keyboard.press("Shift+K");
  await comesToBe(() => new URL(page.url()).hash, "#t2");
  await page.getByRole("button", { name: "Next turn" }).click();
  await comesToBe(() => new URL(page.url()).hash, "#t3");
  await page.keyboard.press("G");
  await comesToBe(() => new URL(page.url()).hash, "#t4");

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).fill("fork");
  await page.getByRole("option", { name: /Fork from the newest turn/ }).click();
  await page.getByRole("dialog", { name: "Fork from turn 4" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.getByText("Stop the running turn").waitFor();
  await checkAccessibility(page, "everyday");
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });

  await send(page, "slow 3600");
  await turn(page, 5, "Taking 3600 s.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Press Esc again to stop the turn").waitFor();
  await page.keyboard.press("Escape");
  await state(page, "Idle").waitFor();
  await turn(page, 5, "Stopped").waitFor();
});

test("a lost connection is told in the header, in the list and where one writes, until it is back", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser, { viewport: DESKTOP });
  await signIn(page, server.link());
  await createSession(page, { name: "lost" });
  await send(page, "slow 3600");
  await turn(page, 1, "Taking 3600 s.").waitFor();
  const list = page.getByRole("navigation", { name: "Sessions" });
  await list.getByText("Running", { exact: true }).waitFor();
  await server.end("SIGKILL");
  await page.getByText("Connection lost.").waitFor();
  await page.getByText("Not connected.").waitFor();
  await list.getByText("Last seen: Running").waitFor();
  await checkAccessibility(page, "everyday");
  assert.equal(await composer(page).isEditable(), true);
  await server.restart();
  await page.getByText("Connection lost.").waitFor({ state: "hidden" });
  await page.getByText("Not connected.").waitFor({ state: "hidden" });
  await list.getByText("Last seen: Running").waitFor({ state: "hidden" });
});

test("what is being written is on the next device, and leaves when it is sent", async (t) => {
  const { server, browser } = await open(t);
  const { page: desk } = await newPage(browser, { viewport: DESKTOP });
  await signIn(desk, server.link());
  await createSession(desk, { name: "two devices" });
  const { page: phone } = await newPage(browser, { viewport: PHONE });
  await signIn(phone, await server.freshLink());
  await composer(desk).fill("say begun at the desk");
  await phone.goto(desk.url());
  await comesToBe(() => composer(phone).inputValue(), "say begun at the desk");
  await composer(phone).pressSequentially(", ended on the phone");
  await comesToBe(() => composer(desk).inputValue(), "say begun at the desk, ended on the phone");
  await phone.getByRole("button", { name: /^Send/ }).click();
  await turn(desk, 1, "begun at the desk, ended on the phone").waitFor();
  await comesToBe(() => composer(desk).inputValue(), "");
  await desk.reload();
  await turn(desk, 1, "ended on the phone").waitFor();
  assert.equal(await composer(desk).inputValue(), "");
});
