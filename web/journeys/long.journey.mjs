// A session too long to be read at once: it opens at its end, and all of it can be reached without anything moving by itself.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { exportOf, longSession, SESSION } from "./long-session.mjs";
import { openStage } from "./stage.mjs";
import { browserForAll, composer, DESKTOP, leaveAll, newPage, PHONE, send, signIn, turn } from "./support.mjs";

const TURNS = 300;

async function openLong(t, written = longSession(TURNS, "long")) {
  const folder = await mkdtemp(path.join(tmpdir(), "throughline-long-"));
  const exported = path.join(folder, "long.jsonl");
  await writeFile(exported, written);
  const stage = await openStage({ restored: exported });
  const browser = await browserForAll();
  t.after(async () => {
    await leaveAll(browser);
    await stage.end();
    await rm(folder, { recursive: true, force: true });
  });
  const { page, complaints } = await newPage(browser);
  await signIn(page, await stage.server.freshLink());
  const visit = (place = "") => page.goto(`${stage.server.origin}/s/${SESSION}${place}`);
  return { stage, browser, page, complaints, visit };
}

const log = (page) => page.getByRole("log", { name: "Transcript" });

/** Waits until a turn's words stand at the top of what is in view. */
const atTop = (page, number) =>
  page.waitForFunction((wanted) => {
    const row = document.getElementById(`t${wanted}`);
    const top = document.querySelector("[role=log]")?.getBoundingClientRect().top;
    return row?.textContent.includes(`Answer ${wanted}`) && Math.abs(row.getBoundingClientRect().top - top) < 30;
  }, number);

/** Where the turns in view stand, once two frames in a row agree and all of them are read. */
const settled = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const element = document.querySelector("[role=log]");
        const frame = element.getBoundingClientRect();
        const rows = () =>
          [...element.querySelectorAll("article")]
            .map((row) => ({ id: row.id, busy: row.ariaBusy === "true", ...row.getBoundingClientRect().toJSON() }))
            .filter(({ top, bottom }) => bottom > frame.top && top < frame.bottom);
        const look = (before) => {
          const now = rows();
          const still = JSON.stringify(now);
          if (still === before && now.length > 0 && now.every(({ busy }) => !busy)) {
            resolve({ rows: Object.fromEntries(now.map(({ id, top }) => [id, top])), scrollTop: element.scrollTop });
          } else {
            window.requestAnimationFrame(() => look(still));
          }
        };
        look("");
      }),
  );

/** Waits until nothing has moved or grown in ten frames: by then every row in view was measured. */
const liesStill = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const element = document.querySelector("[role=log]");
        const look = (before, agreed) => {
          const now = `${element.scrollTop} ${element.scrollHeight}`;
          if (agreed === 10) resolve();
          else window.requestAnimationFrame(() => look(now, now === before ? agreed + 1 : 0));
        };
        look("", 0);
      }),
  );

test("it opens at its end and can be scrolled through to its beginning without a jump", async (t) => {
  const { stage, page, complaints, visit } = await openLong(t);
  const frames = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => frames.push(String(payload))));
  const asked = [];
  page.on("request", (request) => request.url().includes(`/api/v1/sessions/${SESSION}`) && asked.push(request.url()));
  await stage.summedUp(TURNS);
  await visit();
  await turn(page, TURNS, `Answer ${TURNS}`).waitFor();
  const entries = frames.flatMap((text) => {
    const frame = JSON.parse(text);
    return frame.type === "entries" ? frame.entries : frame.type === "entry" ? [frame.entry] : [];
  });
  const heard = entries.filter(({ type }) => type === "turn.started").length;
  assert.ok(heard >= 10 && heard <= 50, `${heard} turns were sent on opening`);
  // Each costs the page a task of its own, however little it says. The lines of all turns are the end of a restored log.
  const told = frames.filter((text) => /^\{"type":"entr/.test(text)).length;
  assert.ok(entries.length > TURNS && told <= 8, `${entries.length} entries came in ${told} frames`);
  await liesStill(page);
  const drawn = await page.getByRole("article").count();
  assert.ok(drawn >= 3 && drawn <= 25, `${drawn} turns were drawn`);
  // Its contents, what it used, what is not sent yet, and that it was seen.
  assert.ok(asked.length <= 5, `on opening it asked for ${asked.join(", ")}`);
  assert.ok((await log(page).evaluate(({ scrollHeight }) => scrollHeight)) > TURNS * 100, "the scrollbar tells of all of them");

  // In every frame, what was read and stays in view moves with the wheel or not at all. An observer of intersections is told where
  // things are painted: after the rows were measured, which a look from a script may come in between.
  await page.evaluate(() => {
    window.jumps = [];
    const element = document.querySelector("[role=log]");
    let before = new Map();
    const look = () => {
      const observer = new window.IntersectionObserver((painted) => {
        observer.disconnect();
        const read = painted.filter(({ target }) => target.ariaBusy !== "true");
        const now = new Map(read.map(({ target, boundingClientRect }) => [target.id, boundingClientRect]));
        for (const [id, { top, bottom }] of now) {
          const was = before.get(id);
          const inView = was !== undefined && was.bottom > 0 && was.top < window.innerHeight;
          if (inView && top - was.top < -2 && bottom - was.bottom < -2) {
            window.jumps.push(`${id} moved by ${top - was.top}`);
          }
        }
        before = now;
        window.requestAnimationFrame(look);
      });
      element.querySelectorAll("article").forEach((row) => observer.observe(row));
    };
    look();
  });
  await log(page).hover();
  let place = await settled(page);
  const seen = new Set(Object.keys(place.rows));
  while (place.scrollTop > 0) {
    await page.mouse.wheel(0, -600);
    await page.waitForFunction((top) => document.querySelector("[role=log]").scrollTop !== top, place.scrollTop);
    const next = await settled(page);
    const kept = Object.keys(next.rows).filter((id) => id in place.rows);
    assert.ok(kept.length > 0, `of ${JSON.stringify(place)} nothing is left in ${JSON.stringify(next)}`);
    for (const id of kept) {
      const moved = next.rows[id] - place.rows[id];
      assert.ok(moved >= -2 && moved <= 602, `${id} moved by ${moved} for a turn of the wheel by 600`);
    }
    place = next;
    Object.keys(place.rows).forEach((id) => seen.add(id));
  }
  assert.deepEqual(await page.evaluate(() => window.jumps), []);
  assert.equal(seen.size, TURNS);
  await turn(page, 1, "Answer 1").waitFor();
  assert.deepEqual(complaints, []);
});

test("a turn is opened by its address and jumped to, and the reader stays there while the agent speaks", async (t) => {
  const { page, visit } = await openLong(t);
  await visit("#t5");
  await atTop(page, 5);
  await page.locator("#t5:not([data-lit])").waitFor();
  // It stands out for a moment only: whoever looks begins before.
  await Promise.all([page.locator("#t250[data-lit]").waitFor(), page.evaluate(() => (window.location.hash = "#t250"))]);
  await atTop(page, 250);
  await page.locator("#t250:not([data-lit])").waitFor();
  await page.evaluate(() => (window.location.hash = "#t120"));
  await atTop(page, 120);
  assert.equal(new URL(page.url()).hash, "#t120");
  // There is no such turn: nothing moves.
  const before = await settled(page);
  await page.evaluate(() => (window.location.hash = "#t9999"));
  assert.deepEqual(await settled(page), before);

  // What stands below may take more or less room, so there may be one more in view or one less.
  const stays = async (words) => {
    const { rows, scrollTop } = await settled(page);
    const kept = Object.keys(before.rows).filter((id) => id in rows);
    assert.ok(kept.length > 1);
    assert.deepEqual([kept.map((id) => rows[id]), scrollTop], [kept.map((id) => before.rows[id]), before.scrollTop], words);
  };
  // Somebody else has the session go on.
  const other = await page.context().newPage();
  await other.goto(page.url().replace(/#.*/, ""));
  await composer(other).waitFor();
  await send(other, "long 600");
  await turn(other, TURNS + 1, "word200 ").waitFor();
  await stays("the reader was not moved");
  await turn(other, TURNS + 1, "word600").waitFor();
  await stays("nor when it ended");
  await page.getByRole("button", { name: "Latest" }).click();
  await turn(page, TURNS + 1, "word600").waitFor();
});

test("earlier prompts are recalled beyond what was read", async (t) => {
  const { page, visit } = await openLong(t);
  await visit();
  await composer(page).click();
  for (let number = TURNS; number > TURNS - 55; number--) {
    await composer(page).press("ArrowUp");
    await page.waitForFunction((words) => document.querySelector("textarea").value.startsWith(words), `Prompt ${number}:`);
  }
  await composer(page).press("ArrowDown");
  await page.waitForFunction((words) => document.querySelector("textarea").value.startsWith(words), `Prompt ${TURNS - 53}:`);
});

test("a link to a turn leads to its beginning, in sessions of few turns and of many, tall and short, at both sizes", async (t) => {
  const sessions = [2, 4, 30, 5_000].flatMap((turns, index) =>
    [true, false].filter((tall) => turns < 5_000 || !tall).map((tall) => ({ id: SESSION.replace("c1", `${tall ? "a" : "b"}${index}`), turns, tall, name: `${turns} turns` })),
  );
  const { page, stage } = await openLong(t, exportOf(sessions));
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    for (const { id, turns, tall } of sessions) {
      // Short turns near the end have too little below them to stand at the top.
      for (const number of tall ? [1, 2, turns] : turns < 30 ? [1] : [1, 12]) {
        await page.goto("about:blank");
        await page.goto(`${stage.server.origin}/s/${id}#t${number}`);
        await page.locator(`#t${number}`).filter({ hasText: `Answer ${number}` }).waitFor();
        await liesStill(page);
        const top = await page.locator(`#t${number}`).evaluate((row) => row.getBoundingClientRect().top - document.querySelector("[role=log]").getBoundingClientRect().top);
        assert.ok(Math.abs(top) < 30, `turn ${number} of ${turns} ${tall ? "tall" : "short"} ones lies ${Math.round(top)} px off at ${viewport.width}`);
      }
    }
  }
});
