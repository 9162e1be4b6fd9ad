// Many sessions, one piece of work: steps that agents offer are taken, once, from any device.
import assert from "node:assert/strict";
import { test } from "node:test";

import { api, createSession, ended, newPage, open, PHONE, send, signIn, turn } from "./support.mjs";

const OTHER_AGENT = `[agents.second]\ntitle = "Second guide"\ncommand = ${JSON.stringify(process.env.THROUGHLINE_BIN)}\nargs = ["guide"]\n`;

/** A step that the open session's agent offers. */
function step(page, label) {
  return page.getByRole("group", { name: "Next step" }).filter({ hasText: label }).last();
}

/** Presses a step and waits until the page is at the session that it began. */
async function take(page, label) {
  const before = page.url();
  await step(page, label).getByRole("button", { name: label }).click();
  await page.waitForURL((url) => /^\/s\//.test(url.pathname) && url.pathname !== new URL(before).pathname);
  return new URL(page.url()).pathname.split("/").at(-1);
}

/** Keeps each page's click back until the other has pressed too: else whoever is told first that it is taken finds no button. */
async function holdUntilBothPress(pages) {
  const pressed = [];
  for (const page of pages) {
    await page.route(/\/next\/[^/]+$/, async (route) => {
      await new Promise((bothPressed) => {
        pressed.push(bothPressed);
        if (pressed.length === pages.length) pressed.forEach((release) => release());
      });
      await route.continue();
    });
  }
}

test("a pipeline of three phases, the second taken on a phone, the third with another agent", async (t) => {
  const { server, browser, dataDir } = await open(t, { config: OTHER_AGENT });
  const desk = await newPage(browser);
  await signIn(desk.page, server.link());
  const first = await createSession(desk.page);
  await send(desk.page, "pipeline loom");
  // The label and what will be sent are in sight, and no JSON is.
  const offered = step(desk.page, "Begin with the research");
  await offered.getByText("phase research loom").waitFor();
  assert.equal(await desk.page.getByText("metaContext").count(), 0);
  // A remark between the offer and the click does not end the offer.
  await send(desk.page, "say one moment");
  await turn(desk.page, 2, "one moment").waitFor();

  const second = await take(desk.page, "Begin with the research");
  await turn(desk.page, 1, "Phase research").waitFor();

  // On the phone the first step is used and says where it led; the next is taken there.
  const phone = await newPage(browser, { viewport: PHONE, hasTouch: true });
  await signIn(phone.page, await server.freshLink());
  await phone.page.goto(`${server.origin}/s/${first}`);
  const used = step(phone.page, "Begin with the research");
  await used.getByText(/Went on in/).waitFor();
  assert.ok(await used.getByRole("button", { name: "Begin with the research" }).isDisabled());
  await used.getByRole("link").click();
  await phone.page.waitForURL(`**/s/${second}`);
  const third = await take(phone.page, "Write the requirements");
  await turn(phone.page, 1, "Phase requirements").waitFor();
  await phone.page.getByText("UC-1").first().waitFor();

  // The other browser, which has the second session open, is told that its step was taken.
  await step(desk.page, "Write the requirements").getByText(/Went on in/).waitFor();
  await desk.page.goto(`${server.origin}/s/${third}`);
  const architecture = step(desk.page, "Design the architecture");
  await architecture.getByRole("button", { name: "Choose an agent for this step" }).click();
  await desk.page.getByRole("combobox", { name: /^Agent/ }).selectOption({ label: "Second guide" });
  await desk.page.keyboard.press("Escape");
  const fourth = await take(desk.page, "Design the architecture");
  await desk.page.locator("main header").getByText("second").first().waitFor();
  await turn(desk.page, 1, "Phase architecture").waitFor();

  const { metaContexts } = await api(server, dataDir, "/meta-contexts");
  assert.deepEqual(metaContexts.map(({ name, sessionIds }) => [name, sessionIds]), [["loom", [second, third, fourth]]]);
  const toc = await api(server, dataDir, `/meta-contexts/${metaContexts[0].id}/toc`);
  assert.deepEqual(toc.entries.map((entry) => [entry.number, entry.session_id]), [[1, second], [2, third], [3, fourth]]);
  assert.deepEqual([desk.complaints, phone.complaints], [[], []]);
});

test("a step is taken once, however often and from wherever it is pressed, and stays taken after a restart", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const desk = await newPage(browser);
  await signIn(desk.page, server.link());
  const session = await createSession(desk.page);
  await send(desk.page, "next Go <b>on</b> | say here we are | loom");
  const phone = await newPage(browser, { viewport: PHONE });
  await signIn(phone.page, await server.freshLink());
  await phone.page.goto(`${server.origin}/s/${session}`);
  const label = "Go <b>on</b>";
  await step(desk.page, label).getByRole("button", { name: label }).waitFor();
  await step(phone.page, label).getByRole("button", { name: label }).waitFor();
  await holdUntilBothPress([desk.page, phone.page]);
  const [one, other] = await Promise.all([take(desk.page, label), take(phone.page, label)]);
  assert.equal(one, other);
  await turn(desk.page, 1, "here we are").waitFor();

  await server.end("SIGKILL");
  await server.restart();
  await desk.page.goto(`${server.origin}/s/${session}`);
  await step(desk.page, label).getByText(/Went on in/).waitFor();
  assert.ok(await step(desk.page, label).getByRole("button", { name: label }).isDisabled());
  const { sessions } = await api(server, dataDir, "/sessions");
  assert.equal(sessions.length, 2);
});

test("a step that does not say its work warns and leads nowhere, and what is no block stays code", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page);
  await send(page, "next Go on | say on | ");
  const warned = page.getByRole("group", { name: "Next step" }).last();
  await warned.getByText(/This step can not be taken/).waitFor();
  assert.equal(await warned.getByRole("button", { name: "Go on" }).count(), 0);
  await send(page, "say ```throughline:next\n{not json}\n```");
  await ended(page, 2, "{not json}");
  assert.equal(await turn(page, 2).getByRole("group", { name: "Next step" }).count(), 0);
});
