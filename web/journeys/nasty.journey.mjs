// Whatever an agent writes or prints, and whatever a person pastes: the page stays alive, shows the text or says why it is
// plain, and keeps its policy.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { NASTY_TEXTS } from "./nasty-texts.mjs";
import { openStage, promptField, sendTo } from "./stage.mjs";
import { api, launchBrowser, newPage, PATIENCE_MS, signIn, turn } from "./support.mjs";

/** Only these, by a part of their names: `NASTY=table`. */
const ONLY = process.env.NASTY ?? "";
/** As the server takes it; no letter has more than four. */
const MOST_PROMPT_BYTES = 1 << 20;

async function openPage(t, name) {
  const folder = await mkdtemp(path.join(tmpdir(), "throughline-nasty-"));
  const stage = await openStage();
  const browser = await launchBrowser();
  t.after(async () => {
    await browser.close();
    await stage.end();
    await rm(folder, { recursive: true, force: true });
  });
  const { page, complaints } = await newPage(browser);
  await signIn(page, await stage.server.freshLink());
  const session = await stage.begin("stage", tmpdir(), name);
  const address = `${stage.server.origin}/s/${session}`;
  await page.goto(address);
  await promptField(page).waitFor();
  const texts = await Promise.all(
    Object.entries(NASTY_TEXTS)
      .filter(([kind]) => kind.includes(ONLY))
      .map(async ([kind, text], index) => {
        const file = path.join(folder, `${index}.txt`);
        await writeFile(file, text);
        return { kind, text, file };
      }),
  );
  /** As another client would: a browser's own field takes long over a million lines. */
  const prompt = (text) => api(stage.server, stage.dataDir, `/sessions/${session}/prompts`, { text });
  return { page, complaints, address, texts, prompt };
}

/** The turn is drawn and over, and the composer takes words: a page that hangs or is gone does neither. */
async function isAlive(page, number, words) {
  await turn(page, number, words).waitFor();
  await page.getByRole("button", { name: "Stop" }).first().waitFor({ state: "detached" });
  await promptField(page).fill(`still here ${number}`);
  assert.equal(await promptField(page).inputValue(), `still here ${number}`);
  assert.equal(await page.getByText("could not be drawn").count(), 0, "everything is drawn, if only as plain text");
}

test("the page outlives every nasty answer, and opens on them again", { timeout: PATIENCE_MS * 20 }, async (t) => {
  const { page, complaints, address, texts } = await openPage(t, "answers");
  for (const [index, { kind, file }] of texts.entries()) {
    await t.test(kind, async () => {
      await sendTo(page, `words ${file}`);
      await isAlive(page, index + 1, "begin");
      await page.goto(`${address}#t${index + 1}`);
      await page.reload();
      await isAlive(page, index + 1, "begin");
    });
  }
  assert.deepEqual(complaints, []);
});

test("the page outlives them as what a tool printed and changed, and as a plan", { timeout: PATIENCE_MS * 20 }, async (t) => {
  const { page, complaints, texts } = await openPage(t, "tools");
  for (const [index, { kind, file }] of texts.entries()) {
    await t.test(kind, async () => {
      await sendTo(page, `printed ${file}`);
      await isAlive(page, index + 1, "begin");
    });
  }
  assert.deepEqual(complaints, []);
});

test("the page outlives them as prompts", { timeout: PATIENCE_MS * 20 }, async (t) => {
  const { page, complaints, texts, prompt } = await openPage(t, "prompts");
  for (const [index, { kind, text }] of texts.entries()) {
    await t.test(kind, async () => {
      await prompt(text.slice(0, MOST_PROMPT_BYTES / 4));
      await isAlive(page, index + 1, "What changed");
    });
  }
  assert.deepEqual(complaints, []);
});
