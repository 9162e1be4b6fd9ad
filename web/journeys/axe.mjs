// What axe finds on a page: WCAG 2.2 AA, and its own rules of good practice for landmarks and headings.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };

/** Fails with what it found, and where. */
export async function checkAccessibility(page, where) {
  // Evaluated by the browser's own debugger, which the page's policy does not bind.
  await page.evaluate(AXE);
  // A colour that is still fading is none that a person has to read.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity).map(({ finished }) => finished)));
  const { violations, passes } = await page.evaluate((rules) => window.axe.run(document, rules), RULES);
  assert.ok(passes.length > 0, "axe looked at something");
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`), [], where);
}
