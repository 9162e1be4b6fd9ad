// The server is killed in the middle of an answer and started again: the page comes back by itself, shows the break,
// and the thread goes on.
import assert from "node:assert/strict";
import { test } from "node:test";

import { composer, createSession, newPage, open, send, signIn, state, turn } from "./support.mjs";

test("killed while a turn runs, restarted, taken up again", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  await createSession(page, { name: "through the restart" });
  await send(page, "say before");
  await turn(page, 1, "before").waitFor();
  await send(page, "slow 3600");
  await turn(page, 2, "Taking 3600 s.").waitFor();

  await server.end("SIGKILL");
  await page.getByText("Connection lost.").waitFor();
  await composer(page).fill("say after");
  await composer(page).press("Enter");
  await page.getByText("Not sent yet").waitFor();

  await server.restart();
  await turn(page, 2, "Interrupted.").waitFor();
  await page.getByText("Connection lost.").waitFor({ state: "hidden" });
  await turn(page, 3, "after").waitFor();
  await state(page, "Idle").waitFor();
  assert.equal(await page.getByRole("article").count(), 3, "the held prompt was sent once");
  assert.equal(await composer(page).inputValue(), "");

  await page.reload();
  await turn(page, 1, "before").waitFor();
  await turn(page, 2, "Interrupted.").waitFor();
  await turn(page, 3, "after").waitFor();
});
