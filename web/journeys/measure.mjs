// What the page costs the browser's main thread: `npm run measure`, with THROUGHLINE_BIN and CHROME as for the
// journeys. A release build of the program and a machine at rest give figures worth keeping; nothing is asserted.
//
// Time is that of the thread itself, so that other work on the machine counts little. Playwright has every frame of the
// socket told to it by the page's own thread: opening a long session costs about half as much without a listener.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";

import { longSession } from "./long-session.mjs";
import { launchBrowser, newPage, signIn, state } from "./support.mjs";
import { openStage, promptField, sendTo } from "./stage.mjs";

const TURNS = Number(process.env.TURNS ?? 10_000);
const SECONDS = Number(process.env.SECONDS ?? 20);
const TOKENS_PER_SECOND = 200;

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
const browser = await launchBrowser();
try {
  console.log(`${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, ${process.env.THROUGHLINE_BIN}`);
  await measureStreaming();
  await measureLargeAnswers();
  await measureOpening();
  console.log(`load ${loadavg()[0].toFixed(1)} at the end`);
} finally {
  await browser.close();
  await stage.end();
  await rm(folder, { recursive: true, force: true });
}

async function measureStreaming() {
  const { page } = await newPage(browser);
  const thread = await mainThread(page);
  await signIn(page, await stage.server.freshLink());
  await page.goto(`${stage.server.origin}/s/${await stage.begin("stage", tmpdir(), "streaming")}`);
  await promptField(page).waitFor();
  await sendTo(page, `stream ${SECONDS + 4} ${TOKENS_PER_SECOND}`);
  await page.getByRole("article", { name: "Turn 1", exact: true }).filter({ hasText: "What changed" }).waitFor();
  for (const part of ["first half", "second half"]) {
    const before = await thread();
    await new Promise((resolve) => setTimeout(resolve, (SECONDS * 1000) / 2));
    const after = await thread();
    const seconds = after.at - before.at;
    const share = (of) => `${(((after[of] - before[of]) / seconds) * 100).toFixed(1)} %`;
    console.log(
      `streaming ${TOKENS_PER_SECOND} tokens/s, ${part}: ${share("task")} of a core (script ${share("script")}, style and layout ${share("layout")})`,
    );
  }
  await state(page, "Idle").waitFor();
  await page.context().close();
}

/** Opening a session whose only answer is large, as one comes back to it; and drawing more of it. */
async function measureLargeAnswers() {
  const { page: writer } = await newPage(browser);
  await signIn(writer, await stage.server.freshLink());
  for (const [name, text] of Object.entries(LARGE_ANSWERS)) {
    const file = path.join(folder, "large.md");
    await writeFile(file, text);
    const session = await stage.begin("stage", tmpdir(), name);
    await writer.goto(`${stage.server.origin}/s/${session}`);
    await promptField(writer).waitFor();
    await sendTo(writer, `words ${file}`);
    await state(writer, "Idle").waitFor();
    await writer.goto(stage.server.origin);

    const { page } = await newPage(browser);
    const thread = await mainThread(page);
    await signIn(page, await stage.server.freshLink());
    const before = await thread("at rest");
    await page.getByRole("link", { name: new RegExp(name) }).click();
    const answer = page.getByRole("article", { name: "Turn 1", exact: true });
    await answer.locator(".prose, .verbatim").first().waitFor();
    await drawn(page);
    const after = await thread();
    const rest = await thread("at rest");
    const ms = (from, to, of) => `${Math.round((to[of] - from[of]) * 1000)} ms`;
    const mb = (from, to) => `${Math.round((to.heap - from.heap) / 1e6)} MB`;
    console.log(
      `opening ${name} (${(text.length / 1e6).toFixed(1)} MB): ${ms(before, after, "task")} (script ${ms(before, after, "script")}, style and layout ${ms(before, after, "layout")}), heap +${mb(before, after)} then, +${mb(before, rest)} at rest`,
    );
    const more = answer.getByRole("button", { name: "Show more" });
    if ((await more.count()) > 0) {
      const pressedAt = await page.evaluate(() => performance.now());
      await more.click();
      await answer.getByRole("button", { name: "Drawing…" }).waitFor({ state: "detached" });
      await drawn(page);
      console.log(`drawing more of it, once: ${ms(rest, await thread(), "task")}, longest task ${Math.round(await longestTask(page, pressedAt))} ms`);
    }
    await page.context().close();
  }
  await writer.context().close();
}

/** Two frames later: what was asked for before is on the screen. */
function drawn(page) {
  return page.evaluate(() => new Promise((resolve) => window.requestAnimationFrame(() => window.requestAnimationFrame(resolve))));
}

/** How long the page did not answer at worst since then. */
function longestTask(page, since) {
  return page.evaluate(
    (from) =>
      new Promise((resolve) => {
        const durations = (list) => list.getEntries().flatMap(({ startTime, duration }) => (startTime < from ? [] : [duration]));
        new window.PerformanceObserver((list) => resolve(Math.max(0, ...durations(list)))).observe({ type: "longtask", buffered: true });
        setTimeout(() => resolve(0), 1_000);
      }),
    since,
  );
}

async function measureOpening() {
  for (const attempt of ["cold", "again"]) {
    const { page } = await newPage(browser);
    const thread = await mainThread(page);
    await signIn(page, await stage.server.freshLink());
    const before = await thread();
    await page.getByRole("link", { name: /ten thousand knots/ }).click();
    await page.getByRole("article", { name: `Turn ${TURNS}`, exact: true }).waitFor({ timeout: 120_000 });
    const after = await thread();
    const ms = (of) => `${Math.round((after[of] - before[of]) * 1000)} ms`;
    console.log(`opening ${TURNS} turns, ${attempt}: ${ms("task")} (script ${ms("script")}, style and layout ${ms("layout")}), ${ms("at")} on the clock, heap ${Math.round(after.heap / 1e6)} MB`);
    await measureJumps(page, thread);
    await page.context().close();
  }
}

/** From asking for a turn that was not read until its words are drawn where the reader looks. */
async function measureJumps(page, thread) {
  for (const number of [0.5, 0.9, 0.1, 0.0005].map((part) => Math.max(1, Math.round(TURNS * part)))) {
    const before = await thread();
    const clock = await page.evaluate(
      (turn) =>
        new Promise((resolve) => {
          const begun = performance.now();
          window.location.hash = `#t${turn}`;
          const log = document.querySelector("[role=log]");
          const look = () => {
            const row = document.getElementById(`t${turn}`);
            const there = row?.textContent.includes(`Answer ${turn}`) && Math.abs(row.getBoundingClientRect().top - log.getBoundingClientRect().top) < 30;
            if (there) {
              resolve(performance.now() - begun);
            } else {
              window.requestAnimationFrame(look);
            }
          };
          window.requestAnimationFrame(look);
        }),
      number,
    );
    const after = await thread();
    console.log(`jump to turn ${number}: ${Math.round((after.task - before.task) * 1000)} ms, ${Math.round(clock)} ms on the clock`);
  }
}

/** Gives how much time the page's main thread has spent, in seconds, and its heap; "at rest" without what nothing needs any more. */
async function mainThread(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async (when = "now") => {
    if (when === "at rest") {
      await session.send("HeapProfiler.collectGarbage");
    }
    const { metrics } = await session.send("Performance.getMetrics");
    const of = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return {
      task: of("TaskDuration"),
      script: of("ScriptDuration"),
      layout: of("LayoutDuration") + of("RecalcStyleDuration"),
      heap: of("JSHeapUsedSize"),
      at: performance.now() / 1000,
    };
  };
}
