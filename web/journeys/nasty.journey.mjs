// Whatever an agent writes or prints, and whatever a person pastes: the page stays alive, shows the text or says why it is
// plain, and keeps its policy. Each text has a session of its own: a page that opened on all of them again and again took
// minutes.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { NASTY_TEXTS } from "./nasty-texts.mjs";
import { openStage, promptField } from "./stage.mjs";
import { api, browserForAll, leaveAll, newPage, PATIENCE_MS, signIn, turn } from "./support.mjs";

/** Only these, by a part of their names: `NASTY=table`. */
const ONLY = process.env.NASTY ?? "";
/** As the server takes it; no letter has more than four. */
const MOST_PROMPT_BYTES = 1 << 20;

/** What is long and plain enough is drawn as what it is, the beginning of it and the end. */
const DRAWN = { "a huge table": "table tbody tr", "a long list": "ol > li" };

/** The turn is drawn and over, and the composer takes words: a page that hangs or is gone does neither. */
async function isAlive(page, number, words) {
  await turn(page, number, words).waitFor();
  await page.getByRole("button", { name: "Stop" }).first().waitFor({ state: "detached" });
  await promptField(page).fill(`still here ${number}`);
  assert.equal(await promptField(page).inputValue(), `still here ${number}`);
  assert.equal(await page.getByText("could not be drawn").count(), 0, "everything is drawn, if only as plain text");
}

test("the page outlives every nasty text as an answer, as what a tool printed and changed, and as a prompt, and opens on them again", { timeout: PATIENCE_MS * 20, concurrency: 2 }, async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "throughline-nasty-"));
  const stage = await openStage({ shared: true });
  const browser = await browserForAll();
  t.after(async () => {
    await leaveAll(browser);
    await stage.end();
    await rm(folder, { recursive: true, force: true });
  });
  const ask = (route, body) => api(stage.server, stage.dataDir, route, body);
  const outlives = async ({ page, complaints }, kind, text) => {
    const { id } = await ask("/sessions", { agent: "stage", cwd: tmpdir(), name: kind });
    const file = path.join(folder, `${id}.txt`);
    await writeFile(file, text);
    const address = `${stage.server.origin}/s/${id}`;
    await page.goto(address);
    await promptField(page).waitFor();
    const turns = [
      { prompt: `words ${file}`, shows: "begin" },
      { prompt: `printed ${file}`, shows: "begin" },
      // As another client would: a browser's own field takes long over a million lines.
      { prompt: text.slice(0, MOST_PROMPT_BYTES / 4), shows: "What changed" },
    ];
    for (const [at, { prompt, shows }] of turns.entries()) {
      await ask(`/sessions/${id}/prompts`, { text: prompt });
      await isAlive(page, at + 1, shows);
    }
    if (kind in DRAWN) {
      const rows = await turn(page, 1).locator(DRAWN[kind]).count();
      assert.ok(rows >= 200 && rows <= 1_000, `${rows} rows are drawn`);
    }
    await page.goto(`${address}#t1`);
    await page.reload();
    for (const [at, { shows }] of turns.entries()) {
      await page.goto(`${address}#t${at + 1}`);
      await isAlive(page, at + 1, shows);
    }
    assert.deepEqual(complaints.splice(0), []);
  };

  // Two pages share the texts: what one of them waits for, the other uses.
  const texts = Object.entries(NASTY_TEXTS).filter(([kind]) => kind.includes(ONLY));
  const worker = async () => {
    const opened = await newPage(browser);
    await signIn(opened.page, await stage.server.freshLink());
    for (let next = texts.shift(); next !== undefined; next = texts.shift()) {
      const [kind, text] = next;
      await t.test(kind, () => outlives(opened, kind, text));
    }
  };
  await Promise.all([worker(), worker()]);
});
