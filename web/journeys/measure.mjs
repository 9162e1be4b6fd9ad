// What the page costs the browser's main thread: `npm run measure`, with THROUGHLINE_BIN and CHROME as for the journeys.
// `npm run measure -- FOLDER…` measures pages that `vite build --outDir FOLDER` made in the place of the program's own, in
// turns; REPEATS says how often, and TURNS and SECONDS how much. Nothing is asserted.
//
// Time is that of the thread itself, which does not run on while others have its core. Still, a core that others heat and
// whose caches they fill does less in the same time: compare what was measured in one run. Each line is the middle of the
// repeats, with the lowest and the highest.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";

import { launchBareBrowser } from "./bare-browser.mjs";
import { longSession, SESSION } from "./long-session.mjs";
import { servePageFrom } from "./page-from-folder.mjs";
import { openStage } from "./stage.mjs";

const TURNS = Number(process.env.TURNS ?? 10_000);
const SECONDS = Number(process.env.SECONDS ?? 20);
const REPEATS = Number(process.env.REPEATS ?? 3);
const TOKENS_PER_SECOND = 200;
const JUMPS = [0.5, 0.9, 0.1, 0.0005].map((part) => Math.max(1, Math.round(TURNS * part)));

/** By what they are, about a megabyte each but for those of so many rows. */
const LARGE_ANSWERS = {
  "a Markdown answer of 1 MB": "## A part\n\nWords, **more** words and `code`.\n\n- one\n- two\n\n```ts\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n".repeat(8_000),
  "a table of 5,000 rows": `| row | name | what |\n|---|---|---|\n${Array.from({ length: 5_000 }, (_, row) => `| ${row} | **two** | \`three\` |\n`).join("")}`,
  "a list of 5,000 items": Array.from({ length: 5_000 }, (_, item) => `${item + 1}. item **${item}** of \`many\`\n`).join(""),
  "a million lines": "a\n".repeat(1_000_000),
};

const folder = await mkdtemp(path.join(tmpdir(), "throughline-measure-"));
const exported = path.join(folder, "long.jsonl");
await writeFile(exported, longSession(TURNS, "ten thousand knots"));
const stage = await openStage({ restored: exported });
const browser = await launchBareBrowser();
const fronts = await Promise.all(process.argv.slice(2).map(async (built) => ({ name: `${built}: `, ...(await servePageFrom(built, stage.server)) })));
const pages = fronts.length === 0 ? [{ name: "", origin: stage.server.origin }] : fronts;
/** All that was measured, by what it is. */
const measured = new Map();
try {
  console.log(`${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, ${process.env.THROUGHLINE_BIN}`);
  await stage.summedUp(TURNS);
  const large = await sayLargeAnswers();
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const { name, origin } of pages) {
      const note = (what, unit, value) => measured.set(name + what, { unit, values: [...(measured.get(name + what)?.values ?? []), value] });
      await measureOpening(origin, note);
      await measureStreaming(origin, note);
      for (const [answer, session] of large) {
        await measureLargeAnswer(origin, answer, session, note);
      }
    }
  }
  for (const [what, { unit, values }] of [...measured].sort(([one], [other]) => (withoutPage(one) < withoutPage(other) ? -1 : 1))) {
    values.sort((one, other) => one - other);
    const shown = (value) => (unit === "%" ? value.toFixed(1) : Math.round(value).toLocaleString("en"));
    console.log(`${what}: ${shown(values[Math.floor(values.length / 2)])} ${unit} (${shown(values[0])} to ${shown(values.at(-1))})`);
  }
  console.log(`load ${loadavg()[0].toFixed(1)} at the end`);
} finally {
  await browser.close();
  fronts.forEach((front) => front.end());
  await stage.end();
  await rm(folder, { recursive: true, force: true });
}

/** So that the same figure of several pages stands together. */
function withoutPage(what) {
  return pages.reduce((words, { name }) => words.replace(name, ""), what);
}

/** A page that is signed in and has drawn the list. */
async function openList(origin) {
  const page = await browser.newPage();
  const { pathname, hash } = new URL(await stage.server.freshLink());
  await page.go(`${origin}${pathname}${hash}`);
  await page.until('a[href^="/s/"]');
  return page;
}

async function measureOpening(origin, note) {
  const page = await openList(origin);
  const before = await page.thread();
  await page.run(openSession, SESSION, `#t${TURNS}`, `Answer ${TURNS}`);
  const after = await page.thread();
  noteAll(note, `opening ${TURNS} turns`, before, after);
  note(`opening ${TURNS} turns, heap`, "MB", after.heap / 1e6);
  for (const turn of JUMPS) {
    await measureJump(page, turn, note);
  }
  await page.close();
}

/** From asking for a turn that was not read until its words are drawn where the reader looks. */
async function measureJump(page, turn, note) {
  // What the one before left to be done is not of this one.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const before = await page.thread();
  await page.run(
    (number) =>
      new Promise((resolve) => {
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
      }),
    turn,
  );
  note(`jump to turn ${turn}`, "ms", ((await page.thread()).task - before.task) * 1000);
}

async function measureStreaming(origin, note) {
  const page = await openList(origin);
  const session = await stage.begin("stage", tmpdir(), "streaming");
  await page.go(`${origin}/s/${session}`);
  await page.until("textarea");
  await stage.send(session, `stream ${SECONDS + 4} ${TOKENS_PER_SECOND}`);
  await page.until("#t1", "What changed");
  for (const part of ["first half", "second half"]) {
    const before = await page.thread();
    await new Promise((resolve) => setTimeout(resolve, (SECONDS * 1000) / 2));
    const after = await page.thread();
    for (const [of, words] of [["task", ""], ["script", ", script"], ["layout", ", style and layout"]]) {
      note(`streaming ${TOKENS_PER_SECOND} tokens/s, ${part}${words}`, "%", ((after[of] - before[of]) / (after.at - before.at)) * 100);
    }
    // A page that gets no core draws less often, and then costs less than it would.
    note(`streaming ${TOKENS_PER_SECOND} tokens/s, ${part}, laid out`, "times a second", (after.layouts - before.layouts) / (after.at - before.at));
  }
  await page.until("main header", "Idle");
  await page.close();
}

/** Sessions whose only answer is large, by what it is. */
async function sayLargeAnswers() {
  const sessions = new Map();
  const page = await openList(stage.server.origin);
  for (const [name, text] of Object.entries(LARGE_ANSWERS)) {
    const file = path.join(folder, "large.md");
    await writeFile(file, text);
    const session = await stage.begin("stage", tmpdir(), name);
    await page.go(`${stage.server.origin}/s/${session}`);
    await page.until("textarea");
    await stage.send(session, `words ${file}`);
    await page.until("#t1");
    await page.until("main header", "Idle");
    sessions.set(name, session);
  }
  await page.close();
  return sessions;
}

/** Opening a session whose only answer is large, as one comes back to it; and drawing more of it. */
async function measureLargeAnswer(origin, name, session, note) {
  const page = await openList(origin);
  const before = await page.thread("at rest");
  await page.run(openSession, session, "#t1 :is(.prose, .verbatim)", "");
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

function noteAll(note, what, before, after) {
  note(what, "ms", (after.task - before.task) * 1000);
  note(`${what}, script`, "ms", (after.script - before.script) * 1000);
  note(`${what}, style and layout`, "ms", (after.layout - before.layout) * 1000);
}

// What follows runs in the page.

/** Goes to a session, as by a click on its row, and waits until this is drawn of it. */
function openSession(session, selector, words) {
  return new Promise((resolve) => {
    document.querySelector(`a[href="/s/${session}"]`).click();
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
