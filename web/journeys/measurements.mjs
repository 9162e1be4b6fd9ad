// What `npm run measure` measures, one function each. Each opens a page of its own on what it is given and notes figures.
import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { SESSION } from "./long-session.mjs";

const TOKENS_PER_SECOND = 200;
const ONE_MEGABYTE = "a Markdown answer of 1 MB";

/** By what they are, about a megabyte each but for those of so many rows. */
const LARGE_ANSWERS = {
  [ONE_MEGABYTE]: "## A part\n\nWords, **more** words and `code`.\n\n- one\n- two\n\n```ts\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n".repeat(8_000),
  "a table of 5,000 rows": `| row | name | what |\n|---|---|---|\n${Array.from({ length: 5_000 }, (_, row) => `| ${row} | **two** | \`three\` |\n`).join("")}`,
  "a list of 5,000 items": Array.from({ length: 5_000 }, (_, item) => `${item + 1}. item **${item}** of \`many\`\n`).join(""),
  "a million lines": "a\n".repeat(1_000_000),
};

/** A page that is signed in and has drawn the list. */
async function openList({ browser, stage, origin }) {
  const page = await browser.newPage();
  const { pathname, hash } = new URL(await stage.server.freshLink());
  await page.go(`${origin}${pathname}${hash}`);
  await page.until('a[href^="/s/"]');
  return page;
}

/** All that is fetched until the list, or the newest turn of a session, is drawn, as it would be sent with gzip. */
export async function measureFirstLoad(on) {
  for (const [what, address, selector] of [["the list", "/", 'a[href^="/s/"]'], ["a session", `/s/${SESSION}`, "#open [role=log] article"]]) {
    const signedIn = await openList(on);
    await signedIn.go(`${on.origin}${address}`);
    await signedIn.until(selector);
    const addresses = await signedIn.run(loadedFiles);
    const bodies = await Promise.all(addresses.map(async (each) => Buffer.from(await (await fetch(each)).arrayBuffer())));
    on.note(`first load, ${what}`, "kB gzip", bodies.reduce((sum, body) => sum + gzipSync(body).length, 0) / 1000);
    await signedIn.close();
  }
}

/** From the list to the newest turn of a long session, and to one in its middle; then jumps from turn to turn. */
export async function measureOpening(on, turns) {
  const jumps = [0.5, 0.9, 0.1, 0.0005].map((part) => Math.max(1, Math.round(turns * part)));
  for (const [turn, words] of [[turns, ""], [jumps[0], ` at turn ${jumps[0]}`]]) {
    const page = await openList(on);
    const before = await page.thread();
    await page.run(openSession, `/s/${SESSION}${words === "" ? "" : `#t${turn}`}`, `#t${turn}`, `Answer ${turn}`);
    const after = await page.thread();
    noteAll(on.note, `opening ${turns} turns${words}`, before, after);
    on.note(`opening ${turns} turns${words}, heap`, "MB", after.heap / 1e6);
    for (const to of words === "" ? jumps : []) {
      await measureJump(page, to, on.note);
    }
    await page.close();
  }
}

/** From asking for a turn that was not read until its words are drawn where the reader looks. */
async function measureJump(page, turn, note) {
  // What the one before left to be done is not of this one.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const before = await page.thread();
  await page.run(jumpTo, turn);
  note(`jump to turn ${turn}`, "ms", ((await page.thread()).task - before.task) * 1000);
}

/** Words that arrive at an even pace, after so many letters that came at once; `scene` is one of the stage agent's. */
export async function measureStreaming(on, what, scene, letters, seconds) {
  const { stage, origin, note } = on;
  const page = await openList(on);
  const session = await stage.begin("stage", tmpdir(), "streaming");
  await page.go(`${origin}/s/${session}`);
  await page.until("textarea");
  await stage.send(session, `${scene} ${seconds + 4} ${TOKENS_PER_SECOND} ${letters}`);
  await page.until("#t1 .prose");
  const name = `streaming ${TOKENS_PER_SECOND} tokens/s: ${what}`;
  for (const part of ["first half", "second half"]) {
    const before = await page.thread();
    await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / 2));
    const after = await page.thread();
    for (const [of, words] of [["task", ""], ["script", ", script"], ["layout", ", style and layout"]]) {
      note(`${name}, ${part}${words}`, "%", ((after[of] - before[of]) / (after.at - before.at)) * 100);
    }
    // A page that gets no core draws less often, and then costs less than it would.
    note(`${name}, ${part}, laid out`, "times a second", (after.layouts - before.layouts) / (after.at - before.at));
  }
  await page.until("main header", "Idle");
  await page.close();
}

/** Sessions whose only answer is large, by what it is. */
export async function sayLargeAnswers(browser, stage, folder) {
  const sessions = new Map();
  const { origin } = stage.server;
  const page = await openList({ browser, stage, origin });
  for (const [name, text] of Object.entries(LARGE_ANSWERS)) {
    sessions.set(name, await sayFile({ page, stage, origin, folder }, name, text));
  }
  await page.close();
  return sessions;
}

/** Has the agent say a text, in a session of its own that the page is open at; gives the session. */
async function sayFile(on, name, text) {
  const session = await openNew(on, name);
  await say(on, session, text);
  return session;
}

async function openNew({ page, stage, origin }, name) {
  const session = await stage.begin("stage", tmpdir(), name);
  await page.go(`${origin}/s/${session}`);
  await page.until("textarea");
  return session;
}

async function say({ page, stage, folder }, session, text) {
  const file = path.join(folder, "large.md");
  await writeFile(file, text);
  await stage.send(session, `words ${file}`);
  await page.until("#t1 :is(.prose, .verbatim)");
  await page.until("main header", "Idle");
}

/** An answer of 1 MB while somebody watches, from its prompt until the turn is over. */
export async function measureArriving(on) {
  const page = await openList(on);
  const session = await openNew({ ...on, page }, "arriving");
  const before = await page.thread("at rest");
  await say({ ...on, page }, session, LARGE_ANSWERS[ONE_MEGABYTE]);
  const after = await page.thread();
  on.note(`watching ${ONE_MEGABYTE}`, "ms", (after.task - before.task) * 1000);
  on.note(`watching ${ONE_MEGABYTE}, heap then`, "MB", (after.heap - before.heap) / 1e6);
  await page.close();
}

/** Opening a session whose only answer is large, as one comes back to it; and drawing more of it. */
export async function measureLargeAnswer(on, name, session) {
  const { note } = on;
  const page = await openList(on);
  const before = await page.thread("at rest");
  await page.run(openSession, `/s/${session}`, "#t1 :is(.prose, .verbatim)", "");
  const after = await page.thread();
  const rest = await page.thread("at rest");
  noteAll(note, `opening ${name}`, before, after);
  note(`opening ${name}, heap then`, "MB", (after.heap - before.heap) / 1e6);
  note(`opening ${name}, heap at rest`, "MB", (rest.heap - before.heap) / 1e6);
  if (await page.run(showMore)) {
    note(`drawing more of ${name}, once`, "ms", ((await page.thread()).task - rest.task) * 1000);
  }
  await page.close();
}

/** The page that shows the list of so many sessions, from nothing; and moving down in it by ten screens. */
export async function measureList(on, sessions) {
  const page = await openList(on);
  // A page's clock begins with the page.
  const drawn = await page.thread();
  on.note(`a list of ${sessions} sessions, from nothing`, "ms", drawn.task * 1000);
  const moved = await page.run(scrollList, 10);
  on.note(`a list of ${sessions} sessions, ${moved} screens further`, "ms", ((await page.thread()).task - drawn.task) * 1000);
  await page.close();
}

/** Opening an applet beside a session, the first one and another in its place. What it does itself has a process of its own. */
export async function measureApplet(on) {
  const { stage, origin, note } = on;
  const page = await openList(on);
  const session = await stage.begin("stage", tmpdir(), "applets");
  await page.go(`${origin}/s/${session}`);
  await page.until("textarea");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  for (const [what, applet, title] of [["an applet", "counter", "Counter"], ["another applet", "plan", "Plan"]]) {
    const before = await page.thread("at rest");
    await page.run(openSession, `/s/${session}?applet=${applet}`, `aside:has(iframe[title="${title}"])`, title);
    // It talks to the page for a moment yet.
    await new Promise((resolve) => setTimeout(resolve, 700));
    noteAll(note, `opening ${what}`, before, await page.thread());
  }
  await page.close();
}

function noteAll(note, what, before, after) {
  note(what, "ms", (after.task - before.task) * 1000);
  note(`${what}, script`, "ms", (after.script - before.script) * 1000);
  note(`${what}, style and layout`, "ms", (after.layout - before.layout) * 1000);
}

// What follows runs in the page.

/** The page itself, its scripts and its sheets; without those that come a second later, when the page is at rest. */
function loadedFiles() {
  const files = performance.getEntriesByType("resource").filter(({ name }) => /\.(?:js|css)$/.test(new URL(name).pathname));
  files.sort((one, other) => one.startTime - other.startTime);
  const later = files.findIndex(({ startTime }, at) => at > 0 && startTime - files[at - 1].responseEnd > 500);
  const first = later < 0 ? files : files.slice(0, later);
  return [...new Set([window.location.href.replace(window.location.hash, ""), ...first.map(({ name }) => name)])];
}

/** Goes to an address, as by a click on a row, and waits until this is drawn of it. */
function openSession(address, selector, words) {
  return new Promise((resolve) => {
    window.history.pushState(null, "", address);
    window.dispatchEvent(new window.PopStateEvent("popstate"));
    const look = () => {
      if (document.querySelector(selector)?.textContent.includes(words)) {
        // What was asked for before is on the screen.
        window.requestAnimationFrame(() => window.requestAnimationFrame(resolve));
      } else {
        window.requestAnimationFrame(look);
      }
    };
    look();
  });
}

function jumpTo(number) {
  return new Promise((resolve) => {
    window.location.hash = `#t${number}`;
    const log = document.querySelector("[role=log]");
    const look = () => {
      const row = document.getElementById(`t${number}`);
      const isThere = row?.textContent.includes(`Answer ${number}`) && Math.abs(row.getBoundingClientRect().top - log.getBoundingClientRect().top) < 30;
      if (isThere) {
        resolve();
      } else {
        window.requestAnimationFrame(look);
      }
    };
    window.requestAnimationFrame(look);
  });
}

/** Moves down in the list by so many screens, one a frame, and waits until rows are drawn there; gives how many it were. */
function scrollList(screens) {
  return new Promise((resolve) => {
    let scroller = document.querySelector('a[href^="/s/"]');
    while (scroller !== null && scroller.scrollHeight <= scroller.clientHeight + 1) {
      scroller = scroller.parentElement;
    }
    let moved = 0;
    const step = () => {
      if (scroller === null || moved === screens) {
        window.requestAnimationFrame(() => resolve(moved));
        return;
      }
      moved += 1;
      scroller.scrollTop += scroller.clientHeight;
      window.requestAnimationFrame(step);
    };
    window.requestAnimationFrame(step);
  });
}

/** Presses "Show more", if there is such a button, and waits until what it asks for is drawn. */
function showMore() {
  return new Promise((resolve) => {
    const find = (words) => [...document.querySelectorAll("#t1 button")].find(({ textContent }) => textContent === words);
    const more = find("Show more");
    if (more === undefined) {
      resolve(false);
      return;
    }
    more.click();
    const look = () => (find("Drawing…") === undefined ? resolve(true) : window.requestAnimationFrame(look));
    window.requestAnimationFrame(() => window.requestAnimationFrame(look));
  });
}
