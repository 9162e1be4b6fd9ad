// The event model as the browser lays it out: names are whole and break between words, and no badge lies on one.
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";

import { api, createSession, DESKTOP, newPage, open, PHONE, signIn, turn } from "./support.mjs";

/** Where to put pictures for people to look at, if anywhere: `PICTURES=FOLDER`. */
const { PICTURES } = process.env;

/** Wider than any line: it ends with dots, and is not broken. */
const LONG_WORD = "Benachrichtigungseinstellungen";

const SLICES = [
  {
    slice: "resume-upload-after-a-lost-connection",
    label: "Resume an upload after the connection was lost",
    screen: "Upload page",
    command: { name: "ResumeInterruptedUploadFromOffset", new: true, fields: { uploadSessionIdentifier: "string", lastAcknowledgedOffset: "integer" } },
    events: [
      { name: "UploadResumed", new: true, feeds: ["UploadProgressByProjectAndPerson"] },
      { name: "MetaContextRegistryProjectionRebuiltFromLog", new: true },
      { name: "upload_part_checksum_verified_by_server", new: true },
    ],
    projections: [{ name: "UploadProgressByProjectAndPerson", new: true }],
    sideEffects: ["The storage opens the part that was begun, and lets go of those that nobody asked for"],
  },
  {
    slice: "notify",
    label: LONG_WORD,
    command: { name: "HTTPSPushNotificationSubscriptionChanged", new: true },
    events: [{ name: "com.example.notifications.v2.SubscriptionRenewed", new: true, feeds: ["ResumeInterruptedUploadFromOffset"] }],
    projections: [{ name: "通知設定一覧とその履歴を表示する画面", new: true }],
    sideEffects: ["Mail"],
  },
];
const TEXT = SLICES.map((slice) => `\`\`\`throughline:eventmodel\n${JSON.stringify(slice)}\n\`\`\``).join("\n\n");

/** What is wrong with the drawing, in words. */
function faultsOf(figure, longWord) {
  const faults = [];
  const names = [...figure.querySelectorAll(".event-model-name")];
  const boxes = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()];
  };
  const overlap = (one, other) => one.left < other.right - 0.5 && other.left < one.right - 0.5 && one.top < other.bottom - 0.5 && other.top < one.bottom - 0.5;
  for (const name of names) {
    const words = name.textContent;
    if (words === longWord) {
      if (boxes(name).some(({ top }) => top > boxes(name)[0].top + 4)) {
        faults.push(`${words}: is broken`);
      }
      continue;
    }
    if (name.scrollHeight > name.clientHeight + 1 || name.scrollWidth > name.clientWidth + 1) {
      faults.push(`${words}: is cut off`);
    }
    const node = name.closest(".event-model-node, .event-model-column").getBoundingClientRect();
    if (boxes(name).some((box) => box.left < node.left - 0.5 || box.right > node.right + 0.5 || box.top < node.top - 0.5 || box.bottom > node.bottom + 0.5)) {
      faults.push(`${words}: reaches out of its node`);
    }
    // Each letter with where it stands: a line that begins within a word is a fault.
    const letters = [];
    const walker = document.createTreeWalker(name, window.NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
      for (let at = 0; at < text.length; at++) {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        letters.push({ letter: text.data[at], top: range.getBoundingClientRect().top });
      }
    }
    for (const [index, { letter, top }] of letters.entries()) {
      const before = letters[index - 1];
      const beginsLine = before !== undefined && top > before.top + 4;
      if (beginsLine && /[\p{Ll}\p{N}]/u.test(letter) && /[\p{L}\p{N}]/u.test(before.letter) && !/[\u2E80-\uD7A3]/.test(letter)) {
        faults.push(`${words}: breaks before “${letter}” of letter ${index + 1}`);
      }
    }
  }
  for (const badge of figure.querySelectorAll(".event-model-new")) {
    const box = badge.getBoundingClientRect();
    for (const name of names.filter((one) => boxes(one).some((line) => overlap(line, box)))) {
      faults.push(`${name.textContent}: a badge lies on it`);
    }
  }
  return faults;
}

for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`in the event model names break between words and no badge lies on one: ${size}`, async (t) => {
    const { server, browser, dataDir } = await open(t);
    const { page, complaints } = await newPage(browser, { viewport });
    await signIn(page, server.link());
    const session = await createSession(page);
    await api(server, dataDir, `/sessions/${session}/prompts`, { text: `say ${TEXT}` });
    await turn(page, 1).getByRole("figure", { name: "Event model" }).waitFor();
    const drawn = page.getByRole("region", { name: "Event model, drawn" });
    assert.equal(await drawn.getByRole("button").count(), 11);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await drawn.evaluate(faultsOf, LONG_WORD), []);
      if (PICTURES !== undefined) {
        await drawn.scrollIntoViewIfNeeded();
        await page.screenshot({ path: path.join(PICTURES, `event-model-${size}-${colorScheme}.png`) });
      }
    }
    // What a node is made of is whole, and its names break between words too.
    await drawn.getByRole("button", { name: "Command ResumeInterruptedUploadFromOffset new" }).click();
    await page.getByText("uploadSessionIdentifier", { exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });
}
