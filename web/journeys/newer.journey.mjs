// A server that is newer than the open page: what the page does not know is said to be there, and the rest goes on.
import { test } from "node:test";

import { createSession, ended, newPage, open, send, signIn, turn } from "./support.mjs";

/** What stands for an event that only the newer server has. */
const KNOWN = "text.part";
const NEWER = "song.part";

const asNewer = (entry) => (entry.type === KNOWN ? { ...entry, type: NEWER, data: { turn: entry.data.turn } } : entry);

test("an entry and a frame of kinds that the page does not know leave it working, and the entry is a muted line", async (t) => {
  const { server, browser } = await open(t);
  const { page } = await newPage(browser);
  let newer = false;
  await page.routeWebSocket(/\/api\/v1\/live$/, (socket) => {
    socket.connectToServer().onMessage((text) => {
      const frame = JSON.parse(text);
      if (newer && frame.type === "preview") {
        socket.send(JSON.stringify({ ...frame, type: "song.preview" }));
      } else if (newer && frame.type === "entry") {
        socket.send(JSON.stringify({ ...frame, entry: asNewer(frame.entry) }));
      } else if (newer && frame.type === "entries") {
        socket.send(JSON.stringify({ ...frame, entries: frame.entries.map(asNewer) }));
      } else {
        socket.send(text);
      }
    });
  });
  await signIn(page, server.link());
  await createSession(page);
  newer = true;
  await send(page, "say unheard");
  await ended(page, 1, `Made by a newer version: ${NEWER}`);
  newer = false;
  await send(page, "say heard again");
  await turn(page, 2, "heard again").waitFor();
});
