// An agent that asks, in two browsers, and a server that is killed under it: nothing is lost and nothing is left over.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";

import { createSession, newPage, open, PATIENCE_MS, PHONE, send, signIn, state, turn } from "./support.mjs";

/** The commands of all processes that have this word in their arguments. */
async function processesWith(word) {
  const found = [];
  for (const name of await readdir("/proc")) {
    if (/^\d+$/.test(name)) {
      const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
      if (command.includes(word)) {
        found.push(`${name} ${command.replaceAll("\0", " ")}`);
      }
    }
  }
  return found;
}

/** The ids of the processes that this one started. */
async function childrenOf(pid) {
  const tasks = await readdir(`/proc/${pid}/task`);
  const children = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")));
  return children.join(" ").split(" ").filter((id) => id !== "");
}

async function isGone(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => null);
  return status === null || /^State:\s+Z/m.test(status);
}

test("a request is answered in one browser, seen in the other, and the session outlives the server", async (t) => {
  const { server, browser } = await open(t);
  const desk = await newPage(browser);
  await signIn(desk.page, server.link());
  const session = await createSession(desk.page, { name: "shared" });
  const phone = await newPage(browser, { viewport: PHONE });
  await signIn(phone.page, await server.freshLink());
  await phone.page.getByRole("link", { name: /shared/ }).click();

  // A word that no other process of this machine has among its arguments.
  const mark = `journey-${session}`;
  await send(desk.page, `run echo ${mark}`);
  await state(desk.page, "Needs you").waitFor();
  await phone.page.getByText(`echo ${mark}`).first().waitFor();
  await phone.page.getByRole("button", { name: /^Allow once/ }).click();
  await desk.page.getByText(/Allowed once by/).waitFor();
  await phone.page.getByText(/Allowed once by/).waitFor();
  await turn(desk.page, 1, mark).waitFor();
  await state(desk.page, "Idle").waitFor();

  await send(desk.page, `run sleep 600 # ${mark}`);
  await desk.page.getByRole("button", { name: /^Allow once/ }).click();
  await phone.page.getByText(/Allowed once by/).nth(1).waitFor();
  await waitUntil(async () => (await processesWith(`sleep 600 # ${mark}`)).length > 0);
  const supervisors = await childrenOf(server.pid());
  assert.ok(supervisors.length > 0);
  await server.end("SIGKILL");
  await waitUntil(async () => (await processesWith(`sleep 600 # ${mark}`)).length === 0);
  // What stands between a server and its agents has gone too, and with it the agents.
  await waitUntil(async () => (await Promise.all(supervisors.map(isGone))).every((gone) => gone));

  await server.restart();
  await turn(desk.page, 2, "Interrupted").waitFor();
  await send(desk.page, "say still here");
  await turn(desk.page, 3, "still here").waitFor();
  await turn(phone.page, 3, "still here").waitFor();
});

async function waitUntil(holds) {
  for (let tries = 0; tries < PATIENCE_MS / 100; tries++) {
    if (await holds()) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`it did not come to hold: ${holds}`);
}
