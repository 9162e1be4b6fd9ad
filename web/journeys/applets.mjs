// What journeys of applets do and look at: showing one by the guide, its panel and frame, and what the server has of it.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { api, ended, send } from "./support.mjs";

/** The panel beside the transcript, or over it. */
export const panelOf = (page) => page.getByRole("complementary", { name: "Applet" });

/** The document of the open applet; one that was left may stay in the page for a moment, outside of the panel. */
export const frameOf = (page) => panelOf(page).locator("iframe").contentFrame();

/** What the page calls the open applet. */
export const heading = (page, name) => panelOf(page).getByRole("heading", { name, exact: true });

/** Opens the menu of the open applet and presses a row of it. */
export async function menu(page, row) {
  await panelOf(page).getByRole("button", { name: "More of this applet" }).click();
  await page.getByRole("button", { name: row, exact: true }).click();
}

/** What the address says after the path. */
export const searchOf = (page) => new URL(page.url()).search;

/** Files of a session, for as long as the test runs. */
export async function woven(t) {
  const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  await mkdir(path.join(cwd, "sheds"));
  await writeFile(path.join(cwd, "notes.md"), "warp\nweft\n");
  await writeFile(path.join(cwd, "sheds", "first.md"), "the first shed\n");
  return cwd;
}

/** Has the guide call a tool in the next turn. */
export async function callTool(page, number, tool, given) {
  await send(page, `tool ${tool} ${JSON.stringify(given)}`);
  await ended(page, number);
}

/** What the tool of a turn answered the agent. */
export async function answerOf(server, dataDir, session, number) {
  const { interaction } = await api(server, dataDir, `/sessions/${session}/turns/${number}`);
  return interaction.tools[0].output;
}

/** Asks the server with the person's own token; of whatever method, and whatever comes of it. */
export async function ask(server, dataDir, method, route, body) {
  const token = (await readFile(path.join(dataDir, "token"), "utf8")).trim();
  return fetch(`${server.origin}/api/v1${route}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

/** Saves one of the person's own. */
export async function saveApplet(server, dataDir, slug, applet) {
  const answer = await ask(server, dataDir, "PUT", `/storage/applet/${slug}`, { name: slug, html: "", ...applet });
  assert.ok(answer.ok, `${slug}: ${answer.status} ${await answer.text()}`);
}

/** The state of an applet, and its version, as the server has it. */
export async function stateOf(server, dataDir, slug) {
  return api(server, dataDir, `/storage/applet/${slug}/state`);
}

/** Answers what an applet asks for, above its frame. */
export async function answerAsk(page, words, button) {
  const bar = page.getByRole("alertdialog", { name: "The applet asks" }).filter({ hasText: words });
  await bar.getByRole("button", { name: button, exact: true }).click();
  await bar.waitFor({ state: "detached" });
}
