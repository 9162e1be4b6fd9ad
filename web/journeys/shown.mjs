// What journeys show and look at: the files, a session that has shown one of each sort, and what is to be seen of each.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { comesToBe, createSession, ended, send, turn } from "./support.mjs";

export const CODE = Array.from({ length: 60 }, (_, index) => (index === 40 ? "fn weave(threads: u32) -> String {" : `// line ${index + 1} of the loom, longer than any phone is wide, so that it has to be scrolled to be read`)).join("\n");
const LOG = Array.from({ length: 6_000 }, (_, index) => `entry ${index + 1}${index === 4_321 ? " with a knot in it" : ""}`).join("\n");

/** A folder with the files that are shown, for as long as the test runs. */
export async function loom(t) {
  const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(path.join(cwd, "shuttle.rs"), `${CODE}\n`);
  await writeFile(path.join(cwd, "weaving.log"), `${LOG}\n`);
  return cwd;
}

/** What a command prints, in colours and with its exit code, and where it waits to be let go. */
const PRINTED = "printf '\\033[32mwarp ok\\033[0m\\n'; seq 1 12; exit 3";
export const VIDEO = "https://vimeo.com/76979871";
export const PICTURE = { width: 640, height: 360 };

/** A session that has shown one of each, in turns of their own; its originals may go then. */
export async function showEach(page, cwd) {
  await writeFile(path.join(cwd, "loom.png"), await page.screenshot({ clip: { x: 0, y: 0, ...PICTURE } }));
  const session = await createSession(page, { cwd, name: "All of the loom" });
  for (const [index, words] of ["show shuttle.rs", "image loom.png", "show weaving.log", `display ${PRINTED}`, `embed ${VIDEO}`, "say The end."].entries()) {
    await send(page, words);
    if (words.startsWith("display ")) {
      await page.getByRole("button", { name: /^Allow once/ }).click();
    }
    await ended(page, index + 1);
  }
  return session;
}

/** What is to be seen of each of them, in the turn that has it. */
export const EACH = {
  1: async (figure) => comesToBe(() => figure.locator("code").textContent(), CODE),
  2: async (figure) => comesToBe(() => figure.locator("img").evaluateAll((pictures) => pictures.map(({ complete, naturalWidth: width, naturalHeight: height }) => ({ complete, width, height }))), [{ complete: true, ...PICTURE }]),
  3: async (figure) => {
    await comesToBe(async () => (await figure.locator("code").first().textContent()).split("\n").slice(0, 3), ["entry 1", "entry 2", "entry 3"]);
    await figure.getByText("6,000 lines").first().waitFor();
  },
  4: async (figure) => {
    await comesToBe(() => figure.locator("code").textContent(), ["warp ok", ...Array.from({ length: 12 }, (_, index) => index + 1)].join("\n"));
    assert.equal(await figure.locator(".ansi-fg-2").textContent(), "warp ok");
    await figure.locator("strong", { hasText: "exit 3" }).waitFor();
  },
  // Whether the site could be asked or not.
  5: async (figure) => {
    assert.equal(await figure.getByRole("link").getAttribute("href"), VIDEO);
    await figure.getByText("vimeo.com ↗").waitFor();
  },
};

export async function everyCardIsThere(page, session) {
  for (const [number, isThere] of Object.entries(EACH)) {
    await page.goto(`/s/${session}#t${number}`);
    const figure = turn(page, Number(number)).getByRole("figure", { name: /^Output: / });
    await figure.waitFor();
    await isThere(figure);
    assert.equal(await figure.getByText(/edited since|gone|removed/).count(), 0);
    assert.equal(await pageIsWider(page), false);
  }
}

export const card = (page, name) => page.getByRole("figure", { name: `Output: ${name}` });

/** Whatever is wide has to scroll inside its card. */
export const pageIsWider = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth || document.body.scrollWidth > document.body.clientWidth);
