// Pictures of every page, for people to look over: `npm run screenshots -- FOLDER`, with THROUGHLINE_BIN and CHROME as
// for the journeys. Phone and desktop, light and dark. Nothing compares them; they are not committed.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { composer, createSession, DESKTOP, launchBrowser, newPage, PHONE, send, signIn, startServer, state, turn } from "./support.mjs";

const LOOKS = [PHONE, DESKTOP].flatMap((viewport) => ["light", "dark"].map((colorScheme) => ({ viewport, colorScheme })));
const LONG_TEXT =
  "say The log is the truth: every entry is durable before anybody is told of it, and everything you see is folded from it.\n\n" +
  "A reader who comes back asks for what follows the last entry they saw, so nothing is seen twice and nothing is skipped. " +
  "That holds for a reload, for a lost connection, and for a server that was killed in the middle of a sentence.\n\n" +
  "    cargo run --release\n    cargo xtask ci\n\n" +
  "<b>Markup</b> is shown as it was written, “quotes” too, 𝕏 and מימין לשמאל, and /a/path/that/is/much/longer/than/the/line/is/wide/on/any/phone/in/anybodys/pocket.txt";

const folder = process.argv[2];
if (folder === undefined) {
  console.error("say where to: npm run screenshots -- FOLDER");
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const dataDir = await mkdtemp(path.join(tmpdir(), "throughline-screenshots-"));
const server = await startServer({ dataDir, listen: "127.0.0.1:0" });
const browser = await launchBrowser();
try {
  const viewers = await signInViewers();
  const sessions = await makeSessions(viewers[0].page);
  for (const { page, shoot } of viewers) {
    await page.goto(server.origin);
    await page.getByRole("link", { name: /Interrupted/ }).first().waitFor();
    await shoot("list");
    await page.getByRole("button", { name: "New session" }).first().click();
    await page.getByRole("dialog").getByRole("combobox").locator("option").first().waitFor({ state: "attached" });
    await shoot("dialog");
    for (const [name, session] of Object.entries(sessions)) {
      await page.goto(`${server.origin}/s/${session}`);
      await composer(page).waitFor();
      await shoot(name);
    }
    await page.goto(`${server.origin}/nowhere`);
    await page.getByRole("heading").first().waitFor();
    await shoot("unknown-address");
  }
  for (const { page } of viewers) {
    await page.goto(`${server.origin}/s/${sessions.running}`);
    await composer(page).waitFor();
  }
  await server.end("SIGKILL");
  for (const { page, shoot } of viewers) {
    await page.getByText("Connection lost.").waitFor();
    await shoot("connection-lost");
  }
} finally {
  await browser.close();
  await server.end("SIGTERM");
  await rm(dataDir, { recursive: true, force: true });
}

/** One signed-in page for every look, pictured before and right after signing in. */
async function signInViewers() {
  const viewers = [];
  for (const { viewport, colorScheme } of LOOKS) {
    const deviceScaleFactor = viewport === PHONE ? 2 : 1;
    const { page } = await newPage(browser, { viewport, colorScheme, deviceScaleFactor, reducedMotion: "reduce" });
    const shoot = (name) => page.screenshot({ path: path.join(folder, `${name}-${viewport.width}-${colorScheme}.png`) });
    await page.goto(server.origin);
    await page.getByRole("heading").first().waitFor();
    await shoot("signed-out");
    await signIn(page, await server.freshLink());
    await page.getByRole("heading", { name: "Start with one session" }).locator("visible=true").waitFor();
    await shoot("no-sessions");
    viewers.push({ page, shoot });
  }
  return viewers;
}

/** Sessions in every state worth looking at, by the name of their picture. */
async function makeSessions(page) {
  const make = async (name) => {
    await page.goto(server.origin);
    return createSession(page, { name });
  };
  const interrupted = await make("Weave the flowers, and the leaves that hang over the edge of the cloth");
  await send(page, LONG_TEXT);
  await state(page, "Idle").waitFor();
  await send(page, "slow 3600");
  await turn(page, 2, "Taking 3600 s.").waitFor();
  await server.end("SIGKILL");
  await server.restart();
  await turn(page, 2, "Interrupted.").waitFor();
  await send(page, "say Tied again.");
  await turn(page, 3, "Tied again.").waitFor();
  await state(page, "Idle").waitFor();
  await send(page, "slow 3600");
  await turn(page, 4, "Taking 3600 s.").waitFor();
  await server.end("SIGKILL");
  await server.restart();
  await turn(page, 4, "Interrupted.").waitFor();

  const empty = await make("");
  await page.getByText("The thread begins here.").waitFor();
  const long = await make("A long answer");
  await send(page, LONG_TEXT);
  await state(page, "Idle").waitFor();
  await send(page, "long 400");
  await turn(page, 2, "word400").waitFor();
  await state(page, "Idle").waitFor();
  const running = await make("Summarise what changed since the last release");
  await send(page, "say First, the log. Then the page. Then the rest.");
  await state(page, "Idle").waitFor();
  await send(page, "slow 3600");
  await turn(page, 2, "Taking 3600 s.").waitFor();
  await send(page, "Then write the changelog.");
  await send(page, "And open the pull request, with the changelog as its text and a link to every issue that it closes.");
  await page.getByRole("region", { name: "Waiting prompt" }).nth(1).waitFor();
  return { interrupted, empty, long, running };
}
