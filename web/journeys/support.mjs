// What every journey needs: the real program on a free port with a fresh data directory, and a real browser.
//
// Invariant: whatever a journey starts it ends itself, by the id of the process. Nothing waits for time: each step
// waits for what it wants to see.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, afterEach } from "node:test";
import { isDeepStrictEqual, promisify } from "node:util";

import { chromium } from "playwright-core";

const run = promisify(execFile);

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** Options of a page on a phone. */
export const TOUCH_PHONE = { viewport: PHONE, hasTouch: true, isMobile: true };

/** How many times slower the pages run, to show whether a journey holds on a slow machine: `JOURNEY_SLOWNESS=4`. */
const SLOWNESS = Number(process.env.JOURNEY_SLOWNESS || 1);
/** What comes at all comes within this; it is long, so that only what never comes fails. */
export const PATIENCE_MS = 60_000;

/**
 * What no journey may ever see, whatever else it looks at: an error that nothing in the page caught, something that the
 * page's policy refused, or a page or an applet that came without its policy.
 */
const broken = [];
/** What the browser says of names in a header that are there for other browsers. */
const UNKNOWN_FEATURE = /^Error with Permissions-Policy header: Unrecognized feature/;
/** What an applet does wrong in its own frame is a complaint, and nothing that breaks the page. */
const OF_AN_APPLET = /\/applet-frame\/|(?:^|[\s(])(?:script|throughline)\.js(?::|$)/;
/** The browser of this file's tests, once one of them has asked for it. */
let ofAll = null;
// Not for the scripts that measure and take pictures: they are no tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  afterEach(() => {
    assert.deepEqual(broken.splice(0), [], "the page broke, or broke its policy");
  });
  after(async () => (await ofAll)?.close());
}

/** A server for one test, which ends with it, and the browser of the file's tests. */
export async function open(test, { config } = {}) {
  const dataDir = await mkdtemp(path.join(tmpdir(), "throughline-journey-"));
  if (config !== undefined) {
    await writeFile(path.join(dataDir, "config.toml"), config, { mode: 0o600 });
  }
  const [server, browser] = await Promise.all([startServer({ dataDir, listen: "127.0.0.1:0" }), browserForAll()]);
  test.after(async () => {
    await leaveAll(browser);
    await server.end("SIGTERM");
    await rm(dataDir, { recursive: true, force: true });
  });
  return { server, browser, dataDir };
}

/** The browser that the tests of a file share: each has contexts of its own, which know nothing of one another. */
export async function browserForAll() {
  ofAll ??= launchBrowser();
  return ofAll;
}

/** Ends what a test did in the shared browser. */
export async function leaveAll(browser) {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

export const CHROME = process.env.CHROME || "/usr/bin/chromium";
export const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A turn of the wheel is one step: where it leads can be told.
  "--disable-smooth-scrolling",
];

export async function launchBrowser(flags = []) {
  return chromium.launch({ executablePath: CHROME, headless: true, args: [...BROWSER_FLAGS, ...flags] });
}

/** Starts the program and waits for its first line, which is the sign-in link. */
export async function startServer({ dataDir, listen }) {
  const binary = process.env.THROUGHLINE_BIN;
  assert.ok(binary, "THROUGHLINE_BIN names the program to drive");
  let child;
  let link;
  const start = async (address) => {
    // Without the person's login shell, whose profile may take long and leave locks where it is ended.
    const env = { ...process.env, SHELL: "/bin/false" };
    child = spawn(binary, ["serve", "--data-dir", dataDir, "--listen", address, "--no-open"], { stdio: ["ignore", "pipe", "pipe"], env });
    let complaints = "";
    child.stderr.on("data", (text) => (complaints += text));
    const lines = createInterface({ input: child.stdout });
    const [line] = await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(([code]) => assert.fail(`the server ended with ${code}: ${complaints}`)),
    ]);
    link = line;
  };
  const end = async (signal) => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      process.kill(child.pid, signal);
      await gone;
    }
  };
  await start(listen);
  const origin = new URL(link).origin;
  return {
    origin,
    end,
    pid: () => child.pid,
    /** The link that the start line gave; good once. */
    link: () => link,
    /** A fresh link, as the signed-out page advises. */
    freshLink: async () => (await run(binary, ["token", "link", "--data-dir", dataDir])).stdout.trim(),
    /** Starts it anew on the same port, with the same data. */
    restart: () => start(new URL(origin).host),
  };
}

/** A page of its own browser context, which notes whatever the browser complains about. */
export async function newPage(browser, options = {}) {
  assert.ok(!options.bypassCSP, "every journey runs under the policy that the server sends");
  const context = await browser.newContext({ viewport: DESKTOP, locale: "en-GB", ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if ((message.type() === "error" || message.type() === "warning") && !UNKNOWN_FEATURE.test(message.text())) {
      complaints.push(message.text());
    }
    if (/Content Security Policy|Trusted ?(?:Type|HTML|Script)/i.test(message.text()) && !OF_AN_APPLET.test(message.location().url)) {
      broken.push(message.text());
    }
  });
  page.on("pageerror", (error) => {
    complaints.push(error.message);
    if (!OF_AN_APPLET.test(error.stack)) {
      broken.push(error.stack ?? error.message);
    }
  });
  page.on("response", (response) => {
    const policy = response.headers()["content-security-policy"] ?? "";
    const wanted = new URL(response.url()).pathname.startsWith("/applet-frame/") ? /^sandbox allow-scripts; default-src 'none';/ : /require-trusted-types-for 'script'/;
    if (response.request().resourceType() === "document" && response.ok() && !wanted.test(policy)) {
      broken.push(`${response.url()} came without its policy`);
    }
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
      console.error(`Content Security Policy: ${violatedDirective} refused ${blockedURI} ${sample}`);
    });
  });
  page.setDefaultTimeout(PATIENCE_MS);
  if (SLOWNESS > 1) {
    const debug = await context.newCDPSession(page);
    await debug.send("Emulation.setCPUThrottlingRate", { rate: SLOWNESS });
  }
  return { page, complaints };
}

/** Signs in and waits for the list. */
export async function signIn(page, link) {
  await page.goto(link);
  await page.getByRole("button", { name: "New session" }).first().waitFor();
}

/** Begins a session with the guide and waits for it to be open. */
export async function createSession(page, { cwd = tmpdir(), name = "" } = {}) {
  await page.getByRole("button", { name: "New session" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.locator("input[type=radio][value=guide]").check();
  await dialog.getByLabel("Directory").fill(cwd);
  await dialog.getByLabel("Name").fill(name);
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === "POST" && response.url().endsWith("/api/v1/sessions")),
    dialog.getByRole("button", { name: "Start session" }).click(),
  ]);
  assert.ok(answer.ok(), `${answer.request().postData()} was answered with ${await answer.text()}`);
  // Until then the composer of the session before is there still.
  await dialog.waitFor({ state: "detached" });
  await composer(page).waitFor();
  return new URL(page.url()).pathname.split("/").at(-1);
}

export function composer(page) {
  return page.getByRole("textbox", { name: "Prompt for guide" });
}

export async function send(page, text) {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** A turn of the transcript, once it holds these words. */
export function turn(page, number, words) {
  const article = page.getByRole("article", { name: `Turn ${number}`, exact: true });
  return words === undefined ? article : article.filter({ hasText: words });
}

/** Waits until the newest turn, which is this one, has ended. The words in the header come by another way, and may be those of before. */
export async function ended(page, number, words) {
  await turn(page, number, words).waitFor();
  await page.getByRole("button", { name: "Stop" }).first().waitFor({ state: "detached" });
  await state(page, "Idle").waitFor();
}

/** Waits until what is looked at is as it is wanted; whatever comes in several steps is not looked at once. */
export async function comesToBe(look, wanted) {
  let seen = await look();
  for (let tries = 0; tries < PATIENCE_MS / 50 && !isDeepStrictEqual(seen, wanted); tries++) {
    await new Promise((soon) => setTimeout(soon, 50));
    seen = await look();
  }
  assert.deepEqual(seen, wanted);
}

/** Asks the server, with the person's own token, for what every client sees; with a body, tells it something. */
export async function api(server, dataDir, route, body) {
  const token = (await readFile(path.join(dataDir, "token"), "utf8")).trim();
  const answer = await fetch(`${server.origin}/api/v1${route}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  assert.ok(answer.ok, `${route}: ${answer.status}`);
  return answer.json();
}

/** The state in words, in the session's header. */
export function state(page, word) {
  return page.locator("main header").getByText(word, { exact: true });
}
