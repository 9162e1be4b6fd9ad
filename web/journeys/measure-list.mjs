// What a list of 10,000 sessions costs the browser's main thread: the second half of `npm run measure`. SESSIONS and REPEATS
// say how much and how often. Nothing is asserted; the bar is 300 ms each.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { launchBareBrowser } from "./bare-browser.mjs";
import { exportOf } from "./long-session.mjs";
import { openStage } from "./stage.mjs";

const SESSIONS = Number(process.env.SESSIONS ?? 10_000);
const REPEATS = Number(process.env.REPEATS ?? 3);

const folder = await mkdtemp(path.join(tmpdir(), "throughline-measure-list-"));
const exported = path.join(folder, "many.jsonl");
const id = (number) => `0190a8c0-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
await writeFile(exported, exportOf(Array.from({ length: SESSIONS }, (_, number) => ({ id: id(number + 1), turns: 1, name: `Session number ${number + 1}` }))));
const stage = await openStage({ restored: exported });
const browser = await launchBareBrowser();
const measured = new Map();
try {
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const page = await browser.newPage();
    const note = async (what, act) => {
      const before = await page.thread();
      await act();
      const after = await page.thread();
      measured.set(what, [...(measured.get(what) ?? []), (after.task - before.task) * 1000]);
    };
    await note(`opening the page with ${SESSIONS} sessions`, async () => {
      await page.go(await stage.server.freshLink());
      await page.until("a[data-row]", "Session number");
    });
    await note(`reading all ${SESSIONS} by scrolling`, () => page.run(readAll));
    await note(`one of ${SESSIONS} changes`, async () => {
      const newest = await page.run(() => document.querySelector("a[data-row]").dataset.row);
      await stage.send(newest, "say changed");
      await page.until("a[data-row]", "Unseen");
    });
    await note(`grouping ${SESSIONS} by project`, () => page.run(groupByProject));
    await note(`scrolling through ${SESSIONS}`, () => page.run(scrollThrough));
    await page.close();
  }
  for (const [what, values] of measured) {
    values.sort((one, other) => one - other);
    const shown = (value) => Math.round(value).toLocaleString("en");
    console.log(`${what}: ${shown(values[Math.floor(values.length / 2)])} ms (${shown(values[0])} to ${shown(values.at(-1))})`);
  }
} finally {
  await browser.close();
  await stage.end();
  await rm(folder, { recursive: true, force: true });
}

// What follows runs in the page.

/** To the end of the list, again and again, until no older sessions are offered. */
async function readAll() {
  const scroller = document.querySelector("a[data-row]").closest("ul").parentElement;
  const isMore = () => [...scroller.querySelectorAll("button")].some(({ textContent }) => /Older sessions|Reading/.test(textContent));
  while (isMore()) {
    scroller.scrollTop = scroller.scrollHeight;
    await new Promise((resolve) => window.requestAnimationFrame(resolve));
  }
  scroller.scrollTop = 0;
  await new Promise((resolve) => window.requestAnimationFrame(() => window.requestAnimationFrame(resolve)));
}

/** Chooses it as by hand, and waits until its heading is drawn. */
async function groupByProject() {
  document.querySelector('[aria-label="What the list shows"]').click();
  await new Promise((resolve) => window.requestAnimationFrame(() => window.requestAnimationFrame(resolve)));
  const select = [...document.querySelectorAll("label")].find(({ textContent }) => textContent.startsWith("Group by")).querySelector("select");
  const set = Object.getOwnPropertyDescriptor(window.HTMLSelectElement.prototype, "value").set;
  set.call(select, "project");
  select.dispatchEvent(new window.Event("change", { bubbles: true }));
  await new Promise((resolve) => window.requestAnimationFrame(() => window.requestAnimationFrame(resolve)));
  document.body.dispatchEvent(new window.PointerEvent("pointerdown", { bubbles: true }));
}

/** From the top to the end in sixty frames. */
async function scrollThrough() {
  const scroller = document.querySelector("a[data-row]").closest("ul").parentElement;
  for (let step = 1; step <= 60; step++) {
    scroller.scrollTop = (scroller.scrollHeight * step) / 60;
    await new Promise((resolve) => window.requestAnimationFrame(resolve));
  }
}
