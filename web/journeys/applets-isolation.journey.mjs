// What an applet tries in the real page, under the real headers: nothing reaches anything outside of its frame, no request of it
// reaches the server, no forged message counts, and an applet that never yields or writes without end harms nobody else.
//
// What it tries is in applets/test/attempts.mjs; there the frame's document is tried alone, with more browsers in mind.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer, connect } from "node:net";
import { once } from "node:events";
import { test } from "node:test";
import { promisify } from "node:util";

import { attempts, CAPABILITIES } from "../../applets/test/attempts.mjs";
import { listenForLeaks } from "../../applets/test/listeners.mjs";
import { frameOf, panelOf, saveApplet, stateOf } from "./applets.mjs";
import { api, comesToBe, composer, createSession, ended, launchBrowser, newPage, open, send, signIn } from "./support.mjs";

const run = promisify(execFile);

/** Pages that try at once. */
const AT_ONCE = 6;
/** How long what an applet began may take to arrive; after that its frame is taken away. */
const WAIT_MS = 1_000;
/** Ways to ask the server itself for something, which the person's cookie would let in. */
const AT_THE_SERVER = [
  "fetch", "fetch, keepalive", "XMLHttpRequest", "EventSource", "sendBeacon", "Worker of a blob", "import()", "script", "link prefetch", "link preload as fetch", "image", "video",
  "css url()", "object", "embed", "iframe", "location", "meta refresh", "link clicked", "link clicked, ping", "link clicked, other window", "form, GET", "form, POST", "window.open",
  "window.open over itself", "navigation.navigate", "speculation rules, prefetch", "blob: address", "fetch of its own address",
];

const wait = (ms) => new Promise((soon) => setTimeout(soon, ms));

/** A browser for which the way to the server leads through here, where the head of each request is noted. */
async function launchWatched(t, server) {
  const heads = [];
  const { host, port } = new URL(server.origin);
  const open = new Set();
  const door = createServer((socket) => {
    const passed = connect(Number(port), "127.0.0.1");
    for (const side of [socket, passed]) {
      open.add(side);
      side.on("error", () => {}).on("close", () => [socket, passed].forEach((each) => open.delete(each.destroy())));
    }
    // A browser sends the head of a request in one piece here.
    socket.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      if (/^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT) \S+ HTTP\/1\.1\r\n/.test(text)) {
        heads.push(text.split("\r\n\r\n")[0]);
      }
    });
    socket.pipe(passed).pipe(socket);
  });
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  // WebRTC speaks to this machine itself only where it is let.
  const browser = await launchBrowser([`--host-resolver-rules=MAP ${host} 127.0.0.1:${door.address().port}`, "--allow-loopback-in-peer-connection"]);
  t.after(async () => {
    await browser.close();
    open.forEach((socket) => socket.destroy());
    door.close();
  });
  return { heads, browser };
}

/** Goes to an address of the page, as by a click, and waits until the applet's document is there. */
async function openApplet(page, session, slug) {
  const loaded = page.waitForResponse((response) => new URL(response.url()).pathname.startsWith("/applet-frame/"));
  await page.evaluate((address) => {
    window.history.pushState(null, "", address);
    window.dispatchEvent(new window.PopStateEvent("popstate"));
  }, `/s/${session}?applet=${slug}`);
  await loaded;
}

/** All entries of the sessions and of the server, but for what this page itself notes of what is open. */
async function logged(dataDir) {
  const { stdout } = await run(process.env.THROUGHLINE_BIN, ["export", "--all", "-", "--data-dir", dataDir], { maxBuffer: 1 << 28 });
  return stdout.split("\n").filter((line) => line.startsWith('{"stream":') && !line.includes('"type":"context.set"'));
}

/** Has several pages try each of these, and gives what arrived by the name of the attempt. */
async function tryAll(pages, session, names, saved) {
  const waiting = [...names];
  const reached = {};
  const work = async (page) => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const { slug, listeners } = saved.get(name);
      await openApplet(page, session, slug);
      await wait(WAIT_MS);
      if (listeners?.heard.length > 0) {
        reached[name] = listeners.heard;
      }
    }
  };
  await Promise.all(pages.map(work));
  return reached;
}

const withSay = (name, js) => `const ATTEMPT = ${JSON.stringify(name)}; const say = (outcome) => parent.postMessage({ attempt: ATTEMPT, outcome }, "*");\n${js}`;

/** Pages of one browser in which the person is signed in; each notes what applets say, and what they would open. */
async function openPages({ browser, server, count, opened }) {
  const first = await newPage(browser, { reducedMotion: "reduce" });
  await signIn(first.page, await server.freshLink());
  const session = await createSession(first.page, { name: "tried" });
  const context = first.page.context();
  await context.addInitScript(() => {
    if (window === window.top) {
      window.said = [];
      window.addEventListener("message", ({ data }) => typeof data?.attempt === "string" && window.said.push([data.attempt, data.outcome]));
    }
  });
  context.on("page", (page) => !pages.includes(page) && !making && opened.push(`a window at ${page.url()}`));
  const pages = [];
  let making = true;
  for (let index = 0; index < count; index++) {
    const page = await context.newPage();
    pages.push(page);
    page.on("download", (download) => opened.push(`a download of ${download.url()}`));
    page.on("dialog", (dialog) => {
      opened.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${server.origin}/s/${session}`);
    await composer(page).waitFor();
  }
  making = false;
  return { session, pages };
}

test("nothing that an applet tries reaches anything outside of its frame, nor the server", { timeout: 240_000 }, async (t) => {
  const { server, dataDir } = await open(t);
  const { heads, browser } = await launchWatched(t, server);
  const [saved, opened] = [new Map(), []];
  const all = Object.keys(attempts({}));
  for (const [index, name] of all.entries()) {
    const listeners = await listenForLeaks();
    t.after(() => listeners.close());
    const { html = "", js = "", css = "", named } = attempts({ url: `http://127.0.0.1:${listeners.tcp}/leak`, port: listeners.tcp, udp: listeners.udp, dns: "leak.test" })[name];
    const slug = `try-${index}`;
    await saveApplet(server, dataDir, slug, { html: `<p>tries</p>${named ? html.replaceAll("ATTEMPT", JSON.stringify(name).replaceAll('"', "&quot;")) : html}`, js: withSay(name, js), css });
    saved.set(name, { slug, listeners });
  }
  const { session, pages } = await openPages({ browser, server, count: AT_ONCE, opened });
  for (const [index, name] of AT_THE_SERVER.entries()) {
    const { html = "", js = "", css = "" } = attempts({ url: `${server.origin}/api/v1/sessions/${session}/prompts`, port: new URL(server.origin).port, udp: 9, dns: "leak.test" })[name];
    const slug = `ask-${index}`;
    await saveApplet(server, dataDir, slug, { html: `<p>asks</p>${html}`, js: withSay(`${name}, at the server`, js), css });
    saved.set(`${name}, at the server`, { slug });
  }
  for (const [index, [name, js]] of Object.entries(CAPABILITIES).entries()) {
    const slug = `may-${index}`;
    await saveApplet(server, dataDir, slug, { html: "<p>may</p>", js: withSay(name, `try { ${js} } catch (error) { say(String(error)); }`) });
    saved.set(name, { slug });
  }
  const before = await logged(dataDir);
  assert.ok(before.length > 3);
  const reached = await tryAll(pages, session, [...saved.keys()], saved);
  assert.deepEqual(reached, {});
  assert.deepEqual(opened, []);
  const outcomes = Object.fromEntries((await Promise.all(pages.map((page) => page.evaluate(() => window.said)))).flat());
  assert.deepEqual(Object.entries(outcomes).filter(([, outcome]) => /^open: |^answered /.test(outcome)), []);
  assert.match(outcomes["the page's document"], /SecurityError/);
  assert.match(outcomes.localStorage, /SecurityError/);

  // Whatever reached the server came from the page: a frame without an origin would say so. Only the page's have the cookie.
  const documents = heads.filter((head) => head.startsWith("GET /applet-frame/"));
  assert.ok(documents.length >= saved.size, "each document came through the door");
  const isOfAFrame = (head) => /^origin: null$/im.test(head) || /^sec-fetch-site: (?!same-origin|none)/im.test(head) || /leak/.test(head);
  assert.deepEqual(heads.filter(isOfAFrame), []);
  assert.deepEqual(await logged(dataDir), before);
  for (const page of pages) {
    await composer(page).fill("still here");
    assert.equal(new URL(page.url()).origin, server.origin, "no page was led elsewhere");
  }
});

test("a message counts only from the frame itself", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  const session = await createSession(page);
  const forge = (id) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "applet_state_set", arguments: { merge: { count: 666 } } } });
  await saveApplet(server, dataDir, "victim", { html: `<output id="count"></output>`, js: `throughline.onState(({ count }) => { document.getElementById("count").textContent = count ?? 0; }); window.heard = []; addEventListener("message", ({ data }) => window.heard.push(data?.params?.mark));` });
  await saveApplet(server, dataDir, "forger", { html: "<p></p>", js: `for (const to of [parent, top, parent.frames[0]]) to.postMessage(${JSON.stringify(forge(1))}, "*"); document.querySelector("p").textContent = "forged";` });
  await page.goto(`${server.origin}/s/${session}?applet=victim`);
  await comesToBe(() => frameOf(page).locator("#count").textContent(), "0");
  // The page itself, and another window that it opened, which writes to the frame as well.
  await page.evaluate((message) => window.postMessage(message, "*"), forge(2));
  const [other] = await Promise.all([page.waitForEvent("popup"), page.evaluate((address) => void window.open(address), `${server.origin}/s/${session}`)]);
  await other.waitForLoadState();
  await other.evaluate((message) => window.opener.postMessage(message, "*"), forge(3));
  await other.evaluate(() => window.opener.frames[0].postMessage({ jsonrpc: "2.0", method: "throughline/state", params: { state: { count: 666 }, version: 9e15, mark: "forged" } }, "*"));
  await comesToBe(() => frameOf(page).locator("#count").evaluate(() => window.heard.includes("forged")), true);
  assert.equal(await frameOf(page).locator("#count").textContent(), "0");
  await openApplet(page, session, "forger");
  await frameOf(page).getByText("forged").waitFor();
  await openApplet(page, session, "victim");
  await comesToBe(() => frameOf(page).locator("#count").textContent(), "0");
  await other.close();
  assert.deepEqual(await stateOf(server, dataDir, "victim"), { state: {}, version: 0 });
  // The forger's own message counted for itself, and for nobody else.
  await comesToBe(async () => (await stateOf(server, dataDir, "forger")).state, { count: 666 });
  assert.equal(await page.getByRole("alertdialog").count(), 0);
});

test("an applet that never yields leaves the page as it is", async (t) => {
  const { server, dataDir } = await open(t);
  // A browser of its own: what hangs in it is nobody else's.
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  const session = await createSession(page);
  // What it says leaves its frame with the next task.
  await saveApplet(server, dataDir, "endless", { html: "<p>soon</p>", js: withSay("endless", `setTimeout(() => { say("begins"); setTimeout(() => { for (;;) {} }); }, 300);`) });
  await page.evaluate(() => {
    window.said = [];
    window.addEventListener("message", ({ data }) => typeof data?.attempt === "string" && window.said.push([data.attempt, data.outcome]));
  });
  await openApplet(page, session, "endless");
  await comesToBe(() => page.evaluate(() => window.said), [["endless", "begins"]]);
  const begun = performance.now();
  await send(page, "say The page goes on.");
  await ended(page, 1, "The page goes on.");
  await panelOf(page).getByRole("button", { name: "Close the applet" }).click();
  await panelOf(page).waitFor({ state: "detached" });
  assert.ok(performance.now() - begun < 10_000, "it answers at once");
  // Its frame is not waited for.
  await comesToBe(() => page.locator("iframe").count(), 0);
});

/** How long the page takes from a key to what it draws of it, as a person's keys come: before whatever else waits. */
async function typed(page, text) {
  await composer(page).evaluate((field) => {
    window.delays = [];
    field.addEventListener("input", ({ timeStamp }) => window.requestAnimationFrame(() => window.delays.push(performance.now() - timeStamp)));
  });
  await composer(page).focus();
  const begun = performance.now();
  await page.keyboard.type(text);
  await comesToBe(async () => (await page.evaluate(() => window.delays.length)) >= text.length, true);
  return { worst: Math.round(Math.max(...(await page.evaluate(() => window.delays)))), took: Math.round(performance.now() - begun) };
}

test("a million writes of its state harm nobody, and the log has at most one entry of each second", { timeout: 180_000 }, async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  const { page: another } = await newPage(browser);
  await signIn(another, await server.freshLink());
  await createSession(another, { name: "another" });
  const session = await createSession(page, { name: "flooded" });
  const MOST = 1_000_000;
  const repeated = (each) => `
    let sent = 0;
    const more = () => {
      for (let batch = 0; batch < 500 && sent < ${MOST}; batch++) {
        sent += 1;
        ${each}
      }
      if (sent < ${MOST}) setTimeout(more);
    };
    throughline.ready.then(more);`;
  await saveApplet(server, dataDir, "busy", { html: "<p>busy</p>", js: repeated("throughline.setState({ sent });") });
  // Past our own script, which makes few of many.
  const message = `{ jsonrpc: "2.0", id: "w" + sent, method: "tools/call", params: { name: "applet_state_set", arguments: { merge: { sent } } } }`;
  await saveApplet(server, dataDir, "flood", { html: "<p>flood</p>", js: repeated(`parent.postMessage(${message}, "*");`) });

  const begun = Date.now();
  await openApplet(page, session, "busy");
  await comesToBe(async () => (await stateOf(server, dataDir, "busy")).version > 0, true);
  // Meanwhile the page and another session answer.
  const answers = [];
  for (let number = 1; number <= 6; number++) {
    const asked = performance.now();
    await send(another, `say Prompt ${number}`);
    await ended(another, number, `Prompt ${number}`);
    answers.push({ prompt: Math.round(performance.now() - asked), ...(await typed(page, "weave")) });
  }
  t.diagnostic(`another session's prompt, and text in the page, in ms: ${JSON.stringify(answers)}`);
  assert.ok(answers.every(({ prompt, took }) => prompt < 10_000 && took < 10_000));
  await comesToBe(async () => (await stateOf(server, dataDir, "busy")).state.sent, MOST);
  const entriesOf = async (slug) => (await logged(dataDir)).filter((line) => line.includes('"applet.state_set"') && line.includes(`"${slug}"`)).length;
  const seconds = (Date.now() - begun) / 1000;
  const entries = await entriesOf("busy");
  t.diagnostic(`${entries} entries in ${Math.round(seconds)} s`);
  assert.ok(entries >= 1 && entries <= seconds + 2, `${entries} entries in ${seconds} s`);
  assert.ok((await api(server, dataDir, "/storage/applet/busy/versions")).versions.length <= 20);

  // One that floods the page itself is stopped, and can be loaded anew.
  const flooded = Date.now();
  await openApplet(page, session, "flood");
  await panelOf(page).getByRole("button", { name: "1 error" }).click();
  await panelOf(page).getByText("It was stopped").waitFor();
  assert.equal(await panelOf(page).locator("iframe").count(), 0);
  t.diagnostic(`it was stopped after ${Date.now() - flooded} ms`);
  await typed(page, "on");
  assert.ok((await entriesOf("flood")) <= (Date.now() - flooded) / 1000 + 2);
});
