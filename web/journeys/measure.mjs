// What the page costs the browser's main thread: `npm run measure`, with THROUGHLINE_BIN and CHROME as for the
// journeys. A release build of the program and a machine at rest give figures worth keeping; nothing is asserted.
//
// Time is that of the thread itself, so that other work on the machine counts little. Playwright has every frame of the
// socket told to it by the page's own thread: opening a long session costs about half as much without a listener.
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";

import { launchBrowser, newPage, signIn, state } from "./support.mjs";
import { openStage, promptField, sendTo } from "./stage.mjs";

const TURNS = Number(process.env.TURNS ?? 10_000);
const SECONDS = Number(process.env.SECONDS ?? 20);
const TOKENS_PER_SECOND = 200;
const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";

const folder = await mkdtemp(path.join(tmpdir(), "throughline-measure-"));
const exported = path.join(folder, "long.jsonl");
await writeFile(exported, longSession(TURNS));
const stage = await openStage({ restored: exported });
const browser = await launchBrowser();
try {
  console.log(`${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, ${process.env.THROUGHLINE_BIN}`);
  await measureStreaming();
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

async function measureOpening() {
  for (const attempt of ["cold", "again"]) {
    const { page } = await newPage(browser);
    const thread = await mainThread(page);
    await signIn(page, await stage.server.freshLink());
    const before = await thread();
    await page.getByRole("link", { name: /ten thousand knots/ }).click();
    await page.getByRole("article", { name: `Turn ${TURNS}`, exact: true }).waitFor();
    const after = await thread();
    const ms = (of) => `${Math.round((after[of] - before[of]) * 1000)} ms`;
    console.log(`opening ${TURNS} turns, ${attempt}: ${ms("task")} (script ${ms("script")}, style and layout ${ms("layout")}), ${ms("at")} on the clock, heap ${Math.round(after.heap / 1e6)} MB`);
    await page.context().close();
  }
}

/** Gives how much time the page's main thread has spent, in seconds. */
async function mainThread(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
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

/** A session of so many turns, as `throughline export` would write it. */
function longSession(turns) {
  const begun = Date.parse("2026-01-02T03:04:05Z");
  const lines = [JSON.stringify({ throughline: "export", version: 1, madeAt: at(0), program: "0.1.0", incarnation: "00000000000000c1" })];
  let seq = 0;
  function at(second) {
    return new Date(begun + second * 1000).toISOString();
  }
  const add = (type, data) => {
    seq += 1;
    lines.push(JSON.stringify({ stream: `session/${SESSION}`, seq, at: at(seq), version: 2, type, data }));
  };
  add("session.created", { agent: "guide", cwd: tmpdir(), project: tmpdir(), name: "ten thousand knots" });
  add("agent.state_changed", { state: "starting" });
  add("agent.state_changed", { state: "ready" });
  for (let turn = 1; turn <= turns; turn++) {
    const interactionId = randomUUID();
    add("turn.started", { turn, interactionId });
    add("prompt.sent", { interactionId, text: `Prompt ${turn}: what follows from this?` });
    add("text.part", { turn, block: 0, text: `## Answer ${turn}\n\nIt follows that **much** is so, and \`code\` too.\n\n` });
    add("text.part", { turn, block: 0, text: turn % 2 === 0 ? "```ts\nconst a = 1;\n```\n" : "- one\n- two\n- three\n" });
    add("turn.ended", { turn, outcome: "completed" });
  }
  add("agent.state_changed", { state: "stopped", reason: "server_shutdown" });
  const body = `${lines.join("\n")}\n`;
  const sha256 = createHash("sha256").update(body).digest("hex");
  return `${body}${JSON.stringify({ throughline: "end", entries: seq, purged: 0, damaged: 0, sha256 })}\n`;
}
