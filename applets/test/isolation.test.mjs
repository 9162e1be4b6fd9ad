// Tests that nothing an applet tries reaches anything outside of its frame. What it tries is in attempts.mjs; listeners that it
// would reach count, and the browser's own log says which names were looked up.
//
// What holds, as seen in Chromium 156:
// - With the headers that the server sends, nothing arrives anywhere: no request, no connection, no packet, no name. That is so
//   for the headers alone as well, without runtime.js.
// - WebRTC in a frame within the frame (srcdoc, a closed or declared shadow root, a document that was opened anew) is stopped by
//   `connection-allowlist` in a hard way: the browser ends the process of the applet's frame. The page around it, which has
//   another process, goes on. runtime.js removes such frames first, so that this happens to no applet that is tried here.
// - A browser that does not know `connection-allowlist` (Chromium before 152, Firefox, Safari; here: without the header) sends
//   nothing either: no request and, thanks to runtime.js alone, no packet of WebRTC. But hints (`preconnect`, `dns-prefetch`) and
//   refused navigations of the frame still look up a name and open a connection before they are refused. So there an
//   applet that means harm can say something to the owner of a name, a few bytes at a time. HINTS below is all of it.
// - Firefox and Safari themselves were not tried.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { CAPABILITIES, ENDS_THE_FRAME, attempts } from "./attempts.mjs";
import { FRAME_HEADERS } from "./document.mjs";
import { listenForLeaks } from "./listeners.mjs";
import { NO_BROWSER, launchBrowser, startStage } from "./stage.mjs";

const AT_ONCE = 8;
const WAIT_MS = 1_200;
const ALL = Object.keys(attempts({}));
const { "connection-allowlist": _, ...OLDER_HEADERS } = FRAME_HEADERS;
const UNPROTECTED = { headers: { "content-type": "text/html; charset=utf-8" }, runtime: false, around: { frameSources: null, sandbox: null } };

/** What opens a connection or looks up a name, and sends nothing, where `connection-allowlist` is not known. */
const HINTS = [
  "link preconnect", "link preconnect added by a script", "link dns-prefetch", "link preconnect to a name", "iframe", "iframe added by a script",
  "iframe, a name", "location", "location, a name", "location.replace", "meta refresh", "link clicked, kept from runtime.js", "window.open over itself",
  "navigation.navigate", "another page's frame",
];

const options = { skip: NO_BROWSER, timeout: 300_000 };
const withSay = (name, js) => `const ATTEMPT = ${JSON.stringify(name)}; const say = (outcome) => parent.postMessage({ attempt: ATTEMPT, outcome }, "*");\n${js}`;

test("the listeners count what is not stopped, or the tests below would show nothing", options, async () => {
  const { reached } = await tryAll(ALL, UNPROTECTED);
  for (const name of ["fetch", "image", "WebSocket", "WebRTC, STUN", "WebRTC, TURN over TCP", "WebRTC in a srcdoc frame in a closed shadow root", "form, POST", "link dns-prefetch", "location"]) {
    assert.ok(reached[name], `${name} is not counted`);
  }
  // About twenty do nothing in this browser, with or without protection; others of them do in others.
  assert.ok(Object.keys(reached).length >= ALL.length * 0.75, `only these are counted: ${Object.keys(reached).join(", ")}`);
});

test("nothing reaches anything out of an applet's frame", options, async () => {
  const { reached, opened, ended } = await tryAll(ALL);
  assert.deepEqual([reached, opened, ended], [{}, [], []]);
});

test("the headers alone stop WebRTC, without runtime.js", options, async () => {
  const { reached, opened } = await tryAll(ALL.filter((name) => name.includes("WebRTC")), { runtime: false });
  assert.deepEqual([reached, opened], [{}, []]);
});

test("without connection-allowlist names are looked up and connections opened, but nothing is sent", options, async () => {
  const { reached, opened } = await tryAll(ALL, { headers: OLDER_HEADERS });
  assert.deepEqual(opened, []);
  for (const [name, hits] of Object.entries(reached)) {
    assert.ok(HINTS.includes(name), `${name} reaches ${hits.join(", ")}`);
    assert.ok(hits.every((hit) => hit === "tcp" || hit === "dns"), `${name} sends ${hits.join(", ")}`);
  }
});

for (const [what, js] of [
  ["whose frame's process ends", `const frame = document.createElement("iframe"); frame.srcdoc = "<script>new RTCPeerConnection()</script>"; document.body.append(frame);`],
  ["that never yields", `for (;;) {}`],
]) {
  test(`an applet ${what} takes no page with it`, options, async () => {
    const stage = await startStage();
    const browser = await launchBrowser();
    try {
      const tab = await browser.newPage();
      await tab.goto(stage.page([{ url: await stage.frame({ js: `setTimeout(() => { ${js} }, 500);` }, { runtime: false }) }]));
      // Playwright takes the page for gone with its frame, so the page itself says that it goes on.
      await tab.evaluate(() => setInterval(() => fetch("/alive"), 100));
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const before = stage.asked("/alive");
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      assert.ok(stage.asked("/alive") > before + 3, "the page stopped too");
    } finally {
      await browser.close();
      stage.close();
    }
  });
}

test("an applet gets nothing of the person's browser", options, async () => {
  const stage = await startStage();
  const browser = await launchBrowser();
  try {
    const outcomes = {};
    const tryNext = async (waiting) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await tryCapability(...next);
      }
    };
    const tryCapability = async (name, js) => {
      const tab = await browser.newPage();
      tab.on("dialog", () => (outcomes[name] = "open: a dialog"));
      tab.on("download", () => (outcomes[name] = "open: a download"));
      await tab.goto(stage.page([{ url: await stage.frame({ js: withSay(name, `try { ${js} } catch (error) { say(String(error)); }`) }) }]));
      await tab.waitForTimeout(WAIT_MS);
      outcomes[name] ??= await tab.evaluate((name) => window.host.outcomes[name], name);
      await tab.close();
    };
    const waiting = Object.entries(CAPABILITIES);
    await Promise.all(Array.from({ length: AT_ONCE }, () => tryNext(waiting)));
    const open = Object.entries(outcomes).filter(([, outcome]) => outcome?.startsWith("open: "));
    assert.deepEqual(open, []);
    assert.equal(outcomes.origin, "closed");
    assert.match(outcomes["the page's document"], /SecurityError/);
    assert.match(outcomes.localStorage, /SecurityError/);
  } finally {
    await browser.close();
    stage.close();
  }
});

/** Runs each attempt in a frame of its own; says by name what arrived, what was opened and whose frame ended. */
async function tryAll(names, given = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), "throughline-names-"));
  const log = path.join(folder, "net.json");
  const dns = `leak-${process.pid}.test`;
  const stage = await startStage();
  const browser = await launchBrowser([`--log-net-log=${log}`]);
  const found = { reached: {}, opened: [], ended: [] };
  // Frames of several tabs may share a process, so an attempt that may end it runs when no other does.
  const isAlone = (name) => given.runtime === false && given.headers === undefined && ENDS_THE_FRAME.test(name);
  const [alone, waiting] = [names.filter(isAlone), names.filter((name) => !isAlone(name))];
  const work = async (queue) => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      await tryOne(name, { ...given, stage, browser, dns, found });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(waiting)));
    await work(alone);
  } finally {
    await browser.close();
    stage.close();
  }
  const lookedUp = await readFile(log, "utf8");
  await rm(folder, { recursive: true, force: true });
  for (const name of names) {
    const host = attempts({})[name].dns;
    if (host !== undefined && lookedUp.includes(`${host}.${dns}`)) {
      (found.reached[name] ??= []).push("dns");
    }
  }
  return found;
}

async function tryOne(name, { stage, browser, dns, found, headers = FRAME_HEADERS, runtime = true, around = {} }) {
  const listeners = await listenForLeaks();
  const { html = "", js = "", css = "", named } = attempts({ url: `http://127.0.0.1:${listeners.tcp}/leak`, port: listeners.tcp, udp: listeners.udp, dns })[name];
  const applet = { html: named ? html.replaceAll("ATTEMPT", JSON.stringify(name).replaceAll('"', "&quot;")) : html, js: withSay(name, js), css };
  const tab = await browser.newPage();
  tab.on("popup", () => found.opened.push(`${name}: a window`));
  tab.on("download", () => found.opened.push(`${name}: a download`));
  tab.on("crash", () => found.ended.push(name));
  // Either fails where the frame's process ended, which is no failure here.
  await tab.goto(stage.page([{ url: await stage.frame(applet, { headers, runtime }) }], around)).catch(() => {});
  await tab.waitForTimeout(WAIT_MS).catch(() => new Promise((resolve) => setTimeout(resolve, WAIT_MS)));
  await tab.close();
  listeners.close();
  if (listeners.heard.length > 0) {
    found.reached[name] = listeners.heard.map(({ kind, text }) => (text === "" ? kind : `${kind}: ${text.split("\r\n")[0]}`));
  }
}
