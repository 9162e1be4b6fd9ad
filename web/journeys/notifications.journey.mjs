// Attention while the page is open: turned on in the settings, a question is one notification, and a tap on it and one on the
// answer are all it takes on a phone. And the page can be installed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { api, comesToBe, createSession, DESKTOP, newPage, open, PHONE, signIn, turn } from "./support.mjs";

for (const viewport of [DESKTOP, PHONE]) {
  test(`a question is answered in two taps from its notification, at ${viewport.width} px`, async (t) => {
    const { server, browser, dataDir } = await open(t);
    const { page, complaints } = await newPage(browser, { viewport });
    await page.context().grantPermissions(["notifications"], { origin: server.origin });
    await signIn(page, server.link());
    const session = await createSession(page, { name: "secret plans" });
    await page.goto(`${server.origin}/settings`);
    const [worker] = await Promise.all([page.context().waitForEvent("serviceworker"), page.getByRole("checkbox", { name: /^Notify me/ }).click()]);

    await api(server, dataDir, `/sessions/${session}/prompts`, { text: "run echo hello" });
    const shown = () => worker.evaluate(async () => (await self.registration.getNotifications()).map(({ title, body }) => `${title}: ${body}`));
    await comesToBe(async () => (await shown()).length, 1);
    const [words] = await shown();
    assert.match(words, /^Needs you: guide in /);
    assert.ok(!/secret|echo/.test(words), "no words of the session");

    // The first tap: what the system does when the notification is pressed.
    await worker.evaluate(async () => {
      const [notification] = await self.registration.getNotifications();
      self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
    });
    await page.waitForURL(`${server.origin}/s/${session}`);
    // The second.
    await page.getByRole("button", { name: /^Allow once/ }).click();
    await turn(page, 1, "ended with exit code 0.").waitFor();
    await comesToBe(shown, []);
    assert.deepEqual(complaints, []);
  });
}

test("the page can be installed, and its worker answers no request", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  const debug = await page.context().newCDPSession(page);
  const { errors, data } = await debug.send("Page.getAppManifest");
  assert.deepEqual(errors, []);
  const { icons, display, start_url: start } = JSON.parse(data);
  assert.deepEqual([display, start], ["standalone", "/"]);
  for (const { src, type } of icons) {
    const answer = await page.request.get(server.origin + src);
    assert.equal(answer.headers()["content-type"], type, src);
  }
  const worker = await (await page.request.get(`${server.origin}/notifications.js`)).text();
  assert.ok(!/"fetch"|caches/.test(worker));
});
