// What every journey needs: the real program on a free port with a fresh data directory, and a real browser.
//
// Invariant: whatever a journey starts it ends itself, by the id of the process. Nothing waits for time: each step
// waits for what it wants to see.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { chromium } from "playwright-core";

const run = promisify(execFile);

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** A server and a browser for one test; both end with it. */
export async function open(test, { config } = {}) {
  const dataDir = await mkdtemp(path.join(tmpdir(), "throughline-journey-"));
  if (config !== undefined) {
    await writeFile(path.join(dataDir, "config.toml"), config, { mode: 0o600 });
  }
  const server = await startServer({ dataDir, listen: "127.0.0.1:0" });
  const browser = await launchBrowser();
  test.after(async () => {
    await browser.close();
    await server.end("SIGTERM");
    await rm(dataDir, { recursive: true, force: true });
  });
  return { server, browser, dataDir };
}

export async function launchBrowser(args = []) {
  return chromium.launch({
    executablePath: process.env.CHROME || "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-dev-shm-usage",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...args,
    ],
  });
}

/** Starts the program and waits for its first line, which is the sign-in link. */
export async function startServer({ dataDir, listen }) {
  const binary = process.env.THROUGHLINE_BIN;
  assert.ok(binary, "THROUGHLINE_BIN names the program to drive");
  let child;
  let link;
  const start = async (address) => {
    child = spawn(binary, ["serve", "--data-dir", dataDir, "--listen", address, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
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
  const context = await browser.newContext({ viewport: DESKTOP, locale: "en-GB", ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.setDefaultTimeout(20_000);
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

/** The state in words, in the session's header. */
export function state(page, word) {
  return page.locator("main header").getByText(word, { exact: true });
}
