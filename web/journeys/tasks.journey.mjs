// Twelve everyday tasks, on a phone and at a desk, each with what it takes a person: a change that makes one longer fails here.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { longSession, SESSION } from "./long-session.mjs";
import { openStage } from "./stage.mjs";
import { api, browserForAll, comesToBe, composer, DESKTOP, leaveAll, newPage, open, PHONE, send, signIn, state, turn } from "./support.mjs";
import { begin, directory, Person, untilInSight } from "./tasks.mjs";

/** What each task takes, from the place in brackets. A text is one however long it is; Ctrl and a letter are one key. */
const EFFORT = {
  "start a session and send the first prompt [list]": { 390: "3 taps, 1 text", 1440: "1 text, 3 keys" },
  "approve what an agent asks [list]": { 390: "2 taps", 1440: "2 keys" },
  "find last week's fix [list]": { 390: "2 taps, 1 text", 1440: "1 text, 2 keys" },
  "jump by contents to an early turn of 120 [session]": { 390: "2 taps, 1 scroll", 1440: "1 click, 1 scroll" },
  "go on after kill -9 of the server [session]": { 390: "2 taps, 1 text", 1440: "1 text, 1 key" },
  "see what changed, down to the lines [session]": { 390: "3 taps", 1440: "2 clicks" },
  "follow a turn on a second screen and answer there [list]": { 390: "2 taps", 1440: "2 clicks" },
  "take the next step [session]": { 390: "1 tap", 1440: "1 click" },
  "copy an answer and save the session [session]": { 390: "4 taps", 1440: "4 clicks" },
  "rename a session [session]": { 390: "1 tap, 1 text, 1 key", 1440: "1 click, 1 text, 1 key" },
  "find sessions by a file, and the edit in one [list]": { 390: "2 taps, 1 text", 1440: "1 click, 1 text, 1 key" },
  "see what the session and the day cost [session]": { 390: "2 taps", 1440: "1 click" },
};

/** An answer of several screens. */
const TALL = `say ${Array.from({ length: 40 }, (_, line) => `line${line}`).join("\n\n")}`;

/** The task at both widths; `run` gets a person who is signed in and at the list, or at the session that `visit` opens. */
function task(name, run, { openServer = open, losesConnection = false } = {}) {
  for (const viewport of [PHONE, DESKTOP]) {
    const isPhone = viewport === PHONE;
    test(`${name.replace(/ \[.*/, "")}, at ${viewport.width} px`, async (t) => {
      const opened = await openServer(t);
      const { page, complaints } = await newPage(opened.browser, { viewport, permissions: ["clipboard-read", "clipboard-write"], ...(isPhone && { hasTouch: true, isMobile: true }) });
      await signIn(page, opened.server.link());
      const person = new Person(page, isPhone);
      const visit = (session) => page.goto(`${opened.server.origin}/s/${session}`);
      await run({ t, ...opened, page, person, isPhone, visit });
      assert.equal(person.effort(), EFFORT[name][viewport.width]);
      assert.deepEqual(losesConnection ? [] : complaints, []);
      t.diagnostic(`${viewport.width} px: ${name}: ${person.effort()}`);
    });
  }
}

const row = (page, name) => page.getByRole("navigation", { name: "Sessions" }).getByRole("link", { name });
const answer = (page, number, words) => turn(page, number).getByText(words, { exact: true });
const allow = (page) => page.getByRole("region", { name: /^Needs you/ }).getByRole("button", { name: /^Allow once/ });
const palette = (page) => page.getByRole("dialog", { name: "Search" });
const searchField = (page) => palette(page).getByRole("combobox", { name: "Search everything" });

/** By the button on a touch screen, where Enter makes a line. */
const sendPrompt = (person) => (person.isPhone ? person.press(person.page.getByRole("button", { name: "Send", exact: true })) : person.key("Enter"));

const openSearch = (person) => (person.isPhone ? person.press(person.page.getByRole("button", { name: "Search every session" })) : person.key("Control+k"));

task("start a session and send the first prompt [list]", async ({ page, person, isPhone, ...opened }) => {
  await begin(opened, { name: "yesterday" });
  await untilInSight(row(page, /yesterday/));
  // The agent and the directory are those of the last time.
  await page.evaluate((cwd) => Object.assign(window.localStorage, { "throughline.lastAgent": "guide", "throughline.lastDirectory": cwd }), tmpdir());
  const start = page.getByRole("dialog", { name: "New session" }).getByRole("button", { name: "Start session", disabled: false });
  if (isPhone) {
    await person.press(page.getByRole("button", { name: "New session" }));
    await person.press(start);
  } else {
    await person.key("n");
    await untilInSight(start);
    await person.key("Enter");
  }
  await person.write(composer(page), "say hello from the loom");
  await sendPrompt(person);
  await untilInSight(answer(page, 1, "hello from the loom"));
});

task("approve what an agent asks [list]", async ({ page, person, isPhone, ...opened }) => {
  await begin(opened, { name: "deploy", prompts: [TALL, "run echo woven"], state: "needs_you" });
  await untilInSight(row(page, /deploy.*Needs you/s));
  if (isPhone) {
    await person.press(row(page, /deploy/));
    await person.press(allow(page));
  } else {
    await person.key("u");
    await untilInSight(allow(page));
    await person.key("y");
  }
  await untilInSight(turn(page, 2).getByText(/^Allowed once by/));
  await untilInSight(answer(page, 2, "echo woven ended with exit code 0."));
});

task("find last week's fix [list]", async ({ page, person, isPhone, ...opened }) => {
  const session = await begin(opened, { name: "uploads", prompts: [TALL, "say The flaky upload was a race in the retry queue", TALL] });
  await begin(opened, { name: "downloads", prompts: ["say The download has no retry"] });
  await row(page, /downloads/).waitFor();
  await openSearch(person);
  await person.write(searchField(page), "flaky upload");
  const found = palette(page).getByRole("group", { name: "uploads" }).getByRole("option", { name: /t2.*race in the retry queue/ }).first();
  await untilInSight(found);
  await (isPhone ? person.press(found) : person.key("Enter"));
  await untilInSight(answer(page, 2, "The flaky upload was a race in the retry queue"));
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).hash, `/s/${session}#t2`);
});

task(
  "jump by contents to an early turn of 120 [session]",
  async ({ page, person, isPhone, visit }) => {
    await visit(SESSION);
    await untilInSight(turn(page, 120).getByRole("heading", { name: "Answer 120", exact: true }));
    if (isPhone) {
      await person.press(page.getByRole("button", { name: "Contents" }));
    }
    const contents = page.getByRole("navigation", { name: "Contents" });
    await untilInSight(contents.getByRole("link", { name: /Turn 120 / }));
    await person.scrollToTop(contents);
    await person.press(contents.getByRole("link", { name: /Turn 4 / }));
    await untilInSight(turn(page, 4).getByRole("heading", { name: "Answer 4", exact: true }));
  },
  {
    openServer: async (t) => {
      const exported = path.join(await directory(t), "long.jsonl");
      await writeFile(exported, longSession(120, "long"));
      const [stage, browser] = await Promise.all([openStage({ restored: exported }), browserForAll()]);
      t.after(async () => {
        await leaveAll(browser);
        await stage.end();
      });
      await stage.summedUp(120);
      return { ...stage, browser };
    },
  },
);

task(
  "go on after kill -9 of the server [session]",
  async ({ page, person, isPhone, visit, server, dataDir }) => {
    const session = await begin({ server, dataDir }, { name: "through the crash", prompts: ["say before the crash"] });
    await visit(session);
    await api(server, dataDir, `/sessions/${session}/prompts`, { text: "long 10000" });
    // What the server keeps is promised to be there afterwards; more may be on the screen.
    await comesToBe(async () => JSON.stringify(await api(server, dataDir, `/sessions/${session}/turns/2`)).includes("word40 "), true);
    await turn(page, 2, "word40 ").waitFor();
    await server.end("SIGKILL");
    await untilInSight(page.getByText("Connection lost.").locator("visible=true"));
    await server.restart();
    await untilInSight(turn(page, 2).getByText("Interrupted.", { exact: true }));
    await page.getByText("Connection lost.").waitFor({ state: "hidden" });
    if (isPhone) {
      await person.press(composer(page));
    }
    await person.write(composer(page), "say and after it");
    await sendPrompt(person);
    await untilInSight(answer(page, 3, "and after it"));
    // Not only on this screen.
    await page.reload();
    await untilInSight(answer(page, 3, "and after it"));
    await turn(page, 2, /word1 .*word40 .*Interrupted\./s).waitFor();
    await turn(page, 1, "before the crash").waitFor();
  },
  { losesConnection: true },
);

task("see what changed, down to the lines [session]", async ({ t, page, person, isPhone, visit, ...opened }) => {
  const cwd = await directory(t);
  await writeFile(path.join(cwd, "notes.md"), "one\ntwo\nthree");
  await visit(await begin(opened, { name: "notes", cwd, prompts: ["write notes.md one\n2\nthree", "write new.md hello"] }));
  await untilInSight(turn(page, 2).getByText(/^I wrote/));
  if (isPhone) {
    await person.press(page.getByRole("button", { name: "More of this session" }));
  }
  await person.press(page.getByRole("button", { name: "Changes", exact: true }));
  const panel = page.getByRole(isPhone ? "dialog" : "complementary", { name: "Changes" });
  const file = (name) => panel.getByRole("region", { name, exact: true });
  await untilInSight(panel.getByText(/^2 files/));
  for (const [name, counts] of [["notes.md", ["+1", "−1"]], ["new.md", ["+1", "−0"]]]) {
    for (const count of counts) {
      await untilInSight(file(name).getByText(count, { exact: true }));
    }
  }
  await person.press(file("notes.md").getByRole("button", { name: /notes.md/ }));
  for (const line of [/Removed: two/, /Added: 2/]) {
    await untilInSight(file("notes.md").getByRole("option", { name: line }));
  }
});

task("follow a turn on a second screen and answer there [list]", async ({ page, person, isPhone, browser, ...opened }) => {
  const session = await begin(opened, { name: "shared" });
  const { page: first } = await newPage(browser, { viewport: isPhone ? DESKTOP : PHONE });
  await signIn(first, await opened.server.freshLink());
  await first.goto(`${opened.server.origin}/s/${session}`);
  await send(first, "long 10000");
  await turn(first, 1, "word5 ").waitFor();

  await person.press(row(page, /shared/));
  const words = async () => Number(/word(\d+)\s*$/.exec(await turn(page, 1).locator("p").last().textContent())?.[1]);
  await turn(page, 1, "word5 ").waitFor();
  const before = await words();
  await comesToBe(async () => (await words()) > before + 20, true);
  await untilInSight(state(page, "Running"));
  // The agent goes on to ask.
  await send(first, "run echo woven");
  await first.getByRole("button", { name: "Stop" }).locator("visible=true").click();
  await allow(first).waitFor();
  await person.press(allow(page));
  await untilInSight(answer(page, 2, "echo woven ended with exit code 0."));
  await untilInSight(answer(first, 2, "echo woven ended with exit code 0."));
});

task("take the next step [session]", async ({ page, person, visit, ...opened }) => {
  const session = await begin(opened, { name: "plan", prompts: ["next Mend the loom | say here we are | loom"] });
  await visit(session);
  await person.press(page.getByRole("group", { name: "Next step" }).getByRole("button", { name: "Mend the loom" }));
  await page.waitForURL((url) => /^\/s\//.test(url.pathname) && !url.pathname.endsWith(session));
  await untilInSight(answer(page, 1, "here we are"));
});

task("copy an answer and save the session [session]", async ({ page, person, visit, ...opened }) => {
  await visit(await begin(opened, { name: "the loom", prompts: ["say **warp** and weft"] }));
  const copy = turn(page, 1).getByRole("button", { name: "Copy the answer" });
  await untilInSight(turn(page, 1).getByText("warp", { exact: true }));
  await person.rest(copy);
  const sign = copy.locator("path");
  const before = await sign.getAttribute("d");
  await person.press(copy);
  // Another sign says that it is done.
  await comesToBe(async () => (await sign.getAttribute("d")) !== before, true);
  await comesToBe(() => page.evaluate(() => navigator.clipboard.readText()), "**warp** and weft");

  await person.press(page.getByRole("button", { name: "More of this session" }));
  await person.press(page.getByRole("button", { name: "Export as…" }));
  const [download] = await Promise.all([page.waitForEvent("download"), person.press(page.getByRole("button", { name: "Markdown", exact: true }))]);
  assert.match(download.suggestedFilename(), /^the-loom-[0-9a-f]{8}\.md$/);
  assert.match(await readFile(await download.path(), "utf8"), /^# the loom\n[^]*\n> say \*\*warp\*\* and weft\n\n\*\*warp\*\* and weft\n/);
});

task("rename a session [session]", async ({ page, person, isPhone, visit, server, dataDir }) => {
  const session = await begin({ server, dataDir }, { name: "first name", prompts: ["say hello"] });
  await visit(session);
  await person.press(page.getByRole("heading", { name: "first name" }).getByRole("button"));
  await person.write(page.getByRole("textbox", { name: "Name of the session" }), "second name");
  await person.key("Enter");
  await untilInSight(page.getByRole("heading", { name: "second name" }));
  await comesToBe(async () => (await api(server, dataDir, `/sessions/${session}`)).meta.name, "second name");
  if (!isPhone) {
    await untilInSight(row(page, /second name/));
  }
});

task("find sessions by a file, and the edit in one [list]", async ({ t, page, person, ...opened }) => {
  const cwd = await directory(t);
  const session = await begin(opened, { name: "mended", cwd, prompts: ["say first", "write shuttle.md one", TALL] });
  await begin(opened, { name: "extended", cwd, prompts: ["write shuttle.md one\ntwo"] });
  await begin(opened, { name: "only talked about", cwd, prompts: ["say shuttle.md is fine"] });
  await row(page, /only talked about/).waitFor();
  await openSearch(person);
  await person.write(searchField(page), "file:shuttle.md");
  const found = (name) => palette(page).getByRole("group", { name }).getByRole("option").first();
  await untilInSight(found("mended"));
  await untilInSight(found("extended"));
  assert.equal(await found("only talked about").count(), 0);
  await person.press(found("mended"));
  assert.equal(new URL(page.url()).pathname, `/s/${session}`);
  await untilInSight(turn(page, 2).getByText(/^I wrote/));
});

task("see what the session and the day cost [session]", async ({ page, person, isPhone, visit, ...opened }) => {
  await begin(opened, { name: "earlier", prompts: ["spend 2000 500 0.5"] });
  await visit(await begin(opened, { name: "spending", prompts: ["spend 1200 300 0.25"] }));
  // Of the session no press: it stands there.
  await untilInSight(page.locator("main header").getByRole("button", { name: /^Usage of this session: .*\$0\.25$/ }));
  if (isPhone) {
    await person.press(page.getByRole("link", { name: "Back to the sessions" }));
  }
  await person.press(page.getByRole("navigation", { name: "Sessions" }).getByRole("link", { name: "Usage", exact: true }));
  await untilInSight(page.locator("main dl > div", { has: page.getByText("Today", { exact: true }) }).getByText("$0.75", { exact: true }));
});
