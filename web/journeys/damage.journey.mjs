// Bytes of the log were changed behind the server's back: the session is read up to there, says so, and takes no more;
// the others go on.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { composer, createSession, newPage, open, send, signIn, turn } from "./support.mjs";

test("a damaged session is shown up to the damage, the others work", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { name: "whole" });
  await send(page, "say whole");
  await turn(page, 1, "whole").waitFor();
  const whole = page.url();
  await createSession(page, { name: "to be damaged" });
  await send(page, "say before");
  await turn(page, 1, "before").waitFor();
  await send(page, "say MARKER");
  await turn(page, 2, "MARKER").waitFor();
  const damaged = page.url();

  await server.end("SIGTERM");
  const file = path.join(dataDir, "throughline.db");
  const bytes = await readFile(file);
  let found = 0;
  for (let at = bytes.indexOf("MARKER"); at !== -1; at = bytes.indexOf("MARKER", at)) {
    bytes.write("WRONGS", at);
    found += 1;
  }
  assert.ok(found > 0);
  await writeFile(file, bytes);
  await server.restart();

  await page.goto(damaged);
  await turn(page, 1, "before").waitFor();
  await page.getByRole("alert").getByText("damaged from here on").waitFor();
  assert.equal(await composer(page).count(), 0);
  assert.equal(await page.getByText("WRONGS").count(), 0);

  await page.getByRole("button", { name: "More of this session" }).click();
  await page.getByRole("button", { name: "Delete session" }).click();
  await page.getByRole("button", { name: "Remove for good" }).click();
  await page.getByRole("link", { name: /to be damaged/ }).waitFor({ state: "hidden" });
  await page.goto(whole);
  await send(page, "say still here");
  await turn(page, 2, "still here").waitFor();
});
