// What the page costs the browser's main thread, each figure beside its bar: `npm run measure`, with THROUGHLINE_BIN and
// CHROME as for the journeys. `npm run measure -- FOLDER…` measures pages that `vite build --outDir FOLDER` made in the place
// of the program's own, in turns; REPEATS says how often, TURNS, SESSIONS and SECONDS how much, and ONLY which of
// `load open applet stream answers list` are measured. Nothing is asserted.
//
// How: Chromium is asked for the time of the page's main thread (`Performance.getMetrics`, TaskDuration in the thread's own
// ticks), which does not run on while others have its core. Still, a core that others heat and whose caches they fill does
// less in the same time: compare what was measured in one run. Each line is the middle of the repeats, with the lowest and
// the highest; a line with a bar says whether the middle holds it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";

import { launchBareBrowser } from "./bare-browser.mjs";
import { exportOf, longSession } from "./long-session.mjs";
import { measureApplet, measureArriving, measureFirstLoad, measureLargeAnswer, measureList, measureOpening, measureStreaming, sayLargeAnswers } from "./measurements.mjs";
import { servePageFrom } from "./page-from-folder.mjs";
import { openStage } from "./stage.mjs";

const TURNS = Number(process.env.TURNS ?? 10_000);
const SESSIONS = Number(process.env.SESSIONS ?? 10_000);
const SECONDS = Number(process.env.SECONDS ?? 20);
const REPEATS = Number(process.env.REPEATS ?? 3);
const ONLY = (process.env.ONLY ?? "load open applet stream answers list").split(" ");

/** The most that each may be, by how its name begins; the first that fits. */
const BARS = [
  ["first load", 300],
  [/^opening \d+ turns[^,]*$/, 300],
  [/^opening (?:an|another) applet$/, 50],
  ["jump to turn", 100],
  [/^streaming [^,]*, (?:first|second) half$/, 15],
  [/Markdown answer of 1 MB$/, 500],
  [/Markdown answer of 1 MB, heap/, 60],
  [/^a list of \d+ sessions/, 300],
];

const folder = await mkdtemp(path.join(tmpdir(), "throughline-measure-"));
const browser = await launchBareBrowser();
/** All that was measured, by what it is. */
const measured = new Map();
const names = [];
try {
  console.log(`${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, ${process.env.THROUGHLINE_BIN}`);
  await withStage("long.jsonl", longSession(TURNS, "ten thousand knots"), async (stage, pages) => {
    await stage.summedUp(TURNS);
    const large = ONLY.includes("answers") ? await sayLargeAnswers(browser, stage, folder) : new Map();
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      for (const { name, origin } of pages) {
        const on = { browser, stage, origin, folder, note: noteFor(name) };
        if (ONLY.includes("load")) {
          await measureFirstLoad(on);
        }
        if (ONLY.includes("open")) {
          await measureOpening(on, TURNS);
        }
        if (ONLY.includes("applet")) {
          await measureApplet(on);
        }
        if (ONLY.includes("stream")) {
          await measureStreaming(on, "a document", "stream", 0, SECONDS);
          await measureStreaming(on, "a document after 100 kB", "stream", 100_000, SECONDS);
          await measureStreaming(on, "one paragraph after 5 kB", "paragraph", 5_000, SECONDS);
        }
        for (const [answer, session] of large) {
          await measureLargeAnswer(on, answer, session);
        }
        if (ONLY.includes("answers")) {
          await measureArriving(on);
        }
      }
    }
  });
  if (ONLY.includes("list")) {
    const id = (nth) => `0190a8c0-0000-7000-9000-${nth.toString(16).padStart(12, "0")}`;
    const many = Array.from({ length: SESSIONS }, (_, nth) => ({ id: id(nth), turns: 1, name: `Session ${nth} of many` }));
    await withStage("many.jsonl", exportOf(many), async (stage, pages) => {
      await stage.summedUp(SESSIONS);
      for (let repeat = 0; repeat < REPEATS; repeat++) {
        for (const { name, origin } of pages) {
          await measureList({ browser, stage, origin, folder, note: noteFor(name) }, SESSIONS);
        }
      }
    });
  }
  printMeasured();
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}

/** A server that was restored from this export, and the pages in front of it, while something is measured there. */
async function withStage(file, exported, measure) {
  const restored = path.join(folder, file);
  await writeFile(restored, exported);
  const stage = await openStage({ restored });
  const fronts = await Promise.all(process.argv.slice(2).map(async (built) => ({ name: `${built}: `, ...(await servePageFrom(built, stage.server)) })));
  names.push(...fronts.map(({ name }) => name));
  try {
    await measure(stage, fronts.length === 0 ? [{ name: "", origin: stage.server.origin }] : fronts);
  } finally {
    fronts.forEach((front) => front.end());
    await stage.end();
  }
}

function noteFor(name) {
  return (what, unit, value) => measured.set(name + what, { unit, values: [...(measured.get(name + what)?.values ?? []), value] });
}

function printMeasured() {
  for (const [what, { unit, values }] of [...measured].sort(([one], [other]) => (withoutPage(one) < withoutPage(other) ? -1 : 1))) {
    values.sort((one, other) => one - other);
    const middle = values[Math.floor(values.length / 2)];
    const shown = (value) => (unit === "%" ? value.toFixed(1) : Math.round(value).toLocaleString("en"));
    const bar = BARS.find(([begins]) => (typeof begins === "string" ? withoutPage(what).startsWith(begins) : begins.test(withoutPage(what))))?.[1];
    const judged = bar === undefined ? "" : `; bar ${bar} ${unit}: ${middle <= bar ? "holds" : "MISSED"}`;
    console.log(`${what}: ${shown(middle)} ${unit} (${shown(values[0])} to ${shown(values.at(-1))})${judged}`);
  }
  console.log(`load ${loadavg()[0].toFixed(1)} at the end`);
}

/** So that the same figure of several pages stands together. */
function withoutPage(what) {
  return names.reduce((words, name) => words.replace(name, ""), what);
}
