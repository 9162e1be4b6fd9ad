// Pictures of every page, for people to look over: `npm run screenshots -- FOLDER`, with THROUGHLINE_BIN and CHROME as
// for the journeys. Phone, tablet and desktop, light and dark. Nothing compares them; they are not committed.
// `npm run screenshots -- FOLDER PAGE` pictures a page that `vite build --outDir PAGE` made in the place of the program's own.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { makeAppletSession, shootApplets } from "./applet-pictures.mjs";
import { servePageFrom } from "./page-from-folder.mjs";
import { comesToBe, DESKTOP, launchBrowser, newPage, PHONE, signIn, state, turn } from "./support.mjs";
import { openStage, promptField, sendTo } from "./stage.mjs";

const TABLET = { width: 820, height: 1180 };
const LOOKS = [PHONE, TABLET, DESKTOP].flatMap((viewport) => ["light", "dark"].map((colorScheme) => ({ viewport, colorScheme })));
const LONG_TEXT =
  "say The log is the truth: every entry is durable before anybody is told of it, and everything you see is folded from it.\n\n" +
  "A reader who comes back asks for what follows the last entry they saw, so nothing is seen twice and nothing is skipped. " +
  "That holds for a reload, for a lost connection, and for a server that was killed in the middle of a sentence.\n\n" +
  "    cargo run --release\n    cargo xtask ci\n\n" +
  "<b>Markup</b> is shown as it was written, “quotes” too, 𝕏 and מימין לשמאל, and /a/path/that/is/much/longer/than/the/line/is/wide/on/any/phone/in/anybodys/pocket.txt";

const WOVEN = `// To and fro, without a knot.
use std::fmt::Write as _;

fn weave(threads: u32, weft: u32) -> String {
    let mut cloth = String::new();
    for row in 0..weft {
        let thread = if row % 2 == 0 { "over" } else { "under" };
        writeln!(cloth, "{row:>4} {}", thread.repeat(threads as usize)).expect("a string takes all");
    }
    cloth
}

${Array.from({ length: 24 }, (_, index) => `/// Row ${index + 1} of the pattern.\nconst ROW_${index + 1}: &str = "x.x.";`).join("\n")}
`;

const [folder, built] = process.argv.slice(2);
if (folder === undefined) {
  console.error("say where to: npm run screenshots -- FOLDER [PAGE]");
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const project = await mkdtemp(path.join(tmpdir(), "loom-"));
await Promise.all(["README.md", "shuttle.rs", "shed.rs", "selvedge.toml"].map((name) => writeFile(path.join(project, name), name)));
const stage = await openStage();
const { server } = stage;
const front = built === undefined ? null : await servePageFrom(built, server);
const origin = front?.origin ?? server.origin;
const browser = await launchBrowser();
let applets = null;
try {
  const viewers = await signInViewers();
  const picture = await viewers.at(-1).page.screenshot({ clip: { x: 0, y: 0, width: 400, height: 400 } });
  const sessions = await makeSessions(viewers.at(-1).page);
  applets = await makeAppletSession(viewers.at(-1).page, { stage, origin });
  for (const { page, shoot } of viewers) {
    await page.goto(origin);
    await page.getByRole("link", { name: /Interrupted/ }).first().waitFor();
    await shoot("list");
    await page.getByRole("button", { name: "What the list shows" }).click();
    await shoot("list-shows");
    await page.getByRole("button", { name: "Select several" }).click();
    await page.locator("a[data-row]").nth(1).click();
    await page.locator("a[data-row]").nth(2).click();
    await shoot("list-selected");
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await shoot("list-tags");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Done", exact: true }).click();
    await page.getByRole("button", { name: "New session" }).first().click();
    await page.getByRole("dialog").getByText("guide").first().waitFor();
    await shoot("dialog");
    for (const [name, session] of Object.entries(sessions)) {
      await page.goto(`${origin}/s/${session}`);
      await promptField(page).waitFor();
      if (name === "work") {
        // The colours of code come a moment after it.
        await page.locator(".code-keyword").first().waitFor({ state: "attached" });
        await shoot("work-end");
        await page.getByRole("log").evaluate((log) => log.scrollTo(0, 0));
      }
      await shoot(name);
    }
    await page.goto(`${origin}/s/${sessions.about}`);
    await page.getByRole("button", { name: "Open the context panel" }).click();
    await page.getByRole("button", { name: /What the agent would be told/ }).click();
    await page.getByText(/characters, about/).waitFor();
    await shoot("context");
    await page.getByText(/characters, about/).evaluate((words) => words.scrollIntoView({ block: "center" }));
    await shoot("context-packet");
    await page.keyboard.press("Escape");
    const file = await page.getByRole("region", { name: "Context", exact: true }).getByRole("link", { name: /shuttle.rs/ }).getAttribute("title");
    await page.goto(`${origin}/s/${sessions.about}?file=${encodeURIComponent(file.replace(/, edited by.*/, ""))}`);
    await page.locator("dialog .code-keyword").first().waitFor();
    await shoot("file");
    await page.goto(`${origin}/s/${sessions.interrupted}`);
    await promptField(page).waitFor();
    await page.getByRole("button", { name: "Contents" }).click();
    await page.getByRole("navigation", { name: "Contents" }).getByRole("link").first().waitFor();
    await shoot("contents");
    await page.keyboard.press("Escape");
    await shootChanges(page, shoot, sessions.about);
    await shootOutputs(page, shoot, sessions.shown);
    await shootApplets(page, shoot, applets, origin);
    await page.goto(`${origin}/s/${sessions.interrupted}`);
    await promptField(page).waitFor();
    await page.getByRole("button", { name: /^Earlier titles/ }).click();
    await page.getByRole("group", { name: "Titles of this session" }).getByRole("listitem").first().waitFor();
    await shoot("titles");
    await page.keyboard.press("Escape");
    await page.getByRole("log").focus();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("entry");
    await page.getByRole("search").getByText(/of \d+ turn/).waitFor();
    await shoot("find");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search everything" }).waitFor();
    await shoot("palette");
    await page.keyboard.type("what changed");
    await page.getByRole("dialog", { name: "Search" }).locator("mark").first().waitFor();
    await shoot("search");
    await page.keyboard.press("Escape");
    await page.getByRole("log").focus();
    await page.keyboard.press("f");
    await page.getByRole("dialog", { name: /^Fork from/ }).waitFor();
    await shoot("fork");
    await page.keyboard.press("Escape");
    await page.getByRole("log").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await shoot("keys");
    await page.keyboard.press("Escape");
    await page.goto(`${origin}/s/${sessions.forked}`);
    await turn(page, 1, "Another way.").waitFor();
    await shoot("forked");
    await page.goto(`${origin}/s/${sessions.resumed}#t2`);
    const card = page.getByRole("button", { name: /What the agent was told/ });
    await card.scrollIntoViewIfNeeded();
    await card.click();
    await shoot("resume-card");
    if (await page.getByRole("button", { name: /^Options/ }).isVisible()) {
      await page.getByRole("button", { name: /^Options/ }).click();
      await shoot("options");
      await page.keyboard.press("Escape");
    }
    await page.getByLabel("Pictures to add").setInputFiles({ name: "loom.png", mimeType: "image/png", buffer: picture });
    await promptField(page).pressSequentially("What is this, beside @sh");
    await page.getByRole("listbox", { name: "Files" }).waitFor();
    await shoot("composer");
    await promptField(page).fill("");
    await page.getByRole("button", { name: "Remove loom.png" }).click();
    for (const section of ["", "/agents", "/permissions", "/devices", "/sessions", "/server"]) {
      await page.goto(`${origin}/settings${section}`);
      await page.getByRole("heading", { level: 2 }).first().waitFor();
      await comesToBe(() => page.getByText(/^(?:Loading|Looking for agents|Reading the sessions)…$/).count(), 0);
      await shoot(`settings${section.replace("/", "-")}`);
    }
    await page.getByRole("button", { name: "How to change it" }).first().click();
    await shoot("settings-change");
    await page.goto(`${origin}/settings/devices`);
    await page.getByRole("button", { name: "Add a phone" }).click();
    await page.getByText(/^tailscale serve/).waitFor();
    await shoot("add-a-phone");
    await page.goto(`${origin}/usage`);
    await page.getByRole("heading", { name: "By agent" }).waitFor();
    await shoot("usage");
    await page.goto(`${origin}/nowhere`);
    await page.getByRole("heading").first().waitFor();
    await shoot("unknown-address");
  }
  for (const { page } of viewers) {
    await page.goto(`${origin}/s/${sessions.running}`);
    await promptField(page).waitFor();
  }
  await server.end("SIGKILL");
  for (const { page, shoot } of viewers) {
    await page.getByText("Connection lost.").locator("visible=true").waitFor();
    await shoot("connection-lost");
  }
} finally {
  await browser.close();
  front?.end();
  await stage.end();
  await Promise.all([project, applets?.cwd].filter((each) => each !== undefined).map((each) => rm(each, { recursive: true, force: true })));
}

/** One signed-in page for every look, pictured before and right after signing in. */
async function signInViewers() {
  const viewers = [];
  for (const { viewport, colorScheme } of LOOKS) {
    const deviceScaleFactor = viewport === PHONE ? 2 : 1;
    const touch = viewport === DESKTOP ? {} : { hasTouch: true, isMobile: true };
    const { page } = await newPage(browser, { viewport, colorScheme, deviceScaleFactor, reducedMotion: "reduce", ...touch });
    const shoot = (name) => page.screenshot({ path: path.join(folder, `${name}-${viewport.width}-${colorScheme}.png`) });
    await page.goto(origin);
    await page.getByRole("heading").first().waitFor();
    await shoot("signed-out");
    await signIn(page, (await server.freshLink()).replace(server.origin, origin));
    await page.getByRole("heading", { name: "Start with one session" }).locator("visible=true").waitFor();
    await shoot("no-sessions");
    viewers.push({ page, shoot });
  }
  return viewers;
}

/** What changed, beside the transcript or over it: a diff, a comment on a line, and two columns where there is room. */
async function shootChanges(page, shoot, session) {
  await page.goto(`${origin}/s/${session}`);
  await promptField(page).waitFor();
  await page.getByRole("log").focus();
  await page.keyboard.press("d");
  await page.getByRole("button", { name: /shuttle.rs/, expanded: false }).click();
  await page.getByRole("option", { name: /weave/ }).last().click();
  await page.getByRole("textbox", { name: /^Comment on/ }).fill("Say how many threads there are.");
  await shoot("changes");
  const edge = page.getByRole("separator", { name: "Width of the side panel" });
  if (await edge.count() > 0) {
    await page.getByRole("button", { name: "Cancel" }).click();
    await edge.focus();
    for (let presses = 0; presses < 14; presses++) {
      await page.keyboard.press("ArrowLeft");
    }
    await shoot("changes-wide");
    await edge.dblclick();
    await page.getByRole("button", { name: "Contents" }).click();
  }
}

/** What was shown: a file with a line that is named, a picture, a long file, each opened too; and the list of them. */
async function shootOutputs(page, shoot, session) {
  await page.goto(`${origin}/s/${session}#t1`);
  const card = (name) => page.getByRole("figure", { name: `Output: ${name}` });
  await card("weave.rs").locator(".code-keyword").first().waitFor();
  await card("weave.rs").locator('[data-line="4"]').click();
  await shoot("output-file");
  await card("weave.rs").getByRole("button", { name: /^Open/ }).click();
  await page.getByRole("dialog", { name: "weave.rs" }).locator(".code-keyword").first().waitFor();
  await shoot("output-file-opened");
  await page.getByRole("dialog").getByRole("searchbox").fill("thread");
  await page.getByRole("dialog").locator("mark").first().waitFor();
  await shoot("output-found");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.goto(`${origin}/s/${session}#t2`);
  await card("loom.png").getByText(/×/).waitFor();
  await shoot("output-picture");
  await card("loom.png").getByRole("button", { name: /show larger/ }).click();
  await page.getByRole("dialog", { name: "loom.png" }).getByRole("img").waitFor();
  await shoot("output-picture-opened");
  await page.keyboard.press("Escape");
  await page.goto(`${origin}/s/${session}#t4`);
  await card("sh test.sh").locator(".ansi-fg-2").first().waitFor();
  await shoot("output-terminal");
  await page.getByRole("log").focus();
  await page.keyboard.press("o");
  await page.getByRole("list", { name: "What was shown" }).getByRole("link").nth(3).waitFor();
  await shoot("shown");
  await page.keyboard.press(page.viewportSize().width >= 1100 ? "o" : "Escape");
  if (page.viewportSize().width >= 1100) {
    await page.getByRole("button", { name: "Contents", exact: true }).click();
  }
}

/** Sessions in every state worth looking at, by the name of their picture. */
async function makeSessions(page) {
  const begin = async (agent, name) => {
    const session = await stage.begin(agent, project, name);
    await page.goto(`${origin}/s/${session}`);
    await promptField(page).waitFor();
    return session;
  };
  const resumed = await begin("stage", "Fold the log page by page");
  await sendTo(page, "What changed?");
  await state(page, "Idle").waitFor();
  const interrupted = await begin("guide", "Weave the flowers, and the leaves that hang over the edge of the cloth");
  await sendTo(page, LONG_TEXT);
  await state(page, "Idle").waitFor();
  await sendTo(page, "slow 3600");
  await turn(page, 2, "Taking 3600 s.").waitFor();
  await server.end("SIGKILL");
  await server.restart();
  await turn(page, 2, "Interrupted.").waitFor();
  await sendTo(page, "say Tied again.");
  await turn(page, 3, "Tied again.").waitFor();
  await state(page, "Idle").waitFor();
  await sendTo(page, "slow 3600");
  await turn(page, 4, "Taking 3600 s.").waitFor();
  await server.end("SIGKILL");
  await server.restart();
  await turn(page, 4, "Interrupted.").waitFor();

  await page.goto(`${origin}/s/${resumed}`);
  await promptField(page).waitFor();
  await sendTo(page, "And what does it cost?");
  await page.getByText("What the agent was told").waitFor();
  await state(page, "Idle").waitFor();
  const locked = await begin("locked", "An agent that nobody signed in to");
  await sendTo(page, "Begin with the warp.");
  await page.getByRole("button", { name: /Sign in/ }).first().waitFor();
  const work = await begin("stage", "Refuse entries that leave a gap");
  await sendTo(page, "work");
  await state(page, "Needs you").waitFor();

  const condensed = await begin("stage", "A long session, condensed");
  await sendTo(page, "What changed?");
  await state(page, "Idle").waitFor();
  await sendTo(page, "condense 3600");
  await turn(page, 2, "I go on").waitFor();

  const about = await begin("guide", "What a session is about");
  await sendTo(page, "write shuttle.rs // To and fro.\nfn weave(threads: u32) -> String {\n    format!(\"warp {threads}\")\n}");
  await turn(page, 1, "I wrote").waitFor();
  await state(page, "Idle").waitFor();
  await sendTo(page, "write shuttle.rs // To and fro, without a knot.\nfn weave(threads: u32, weft: u32) -> String {\n    format!(\"warp {threads} weft {weft}\")\n}");
  await turn(page, 2, "I wrote").waitFor();
  await state(page, "Idle").waitFor();
  await sendTo(page, "write notes/selvedge.md # The edge\n\nIt holds the cloth together.");
  await turn(page, 3, "I wrote").waitFor();
  await state(page, "Idle").waitFor();

  await writeFile(path.join(project, "weave.rs"), WOVEN);
  await writeFile(path.join(project, "weaving.log"), Array.from({ length: 9_000 }, (_, index) => `06:${String(Math.floor(index / 60) % 60).padStart(2, "0")} row ${index + 1} woven`).join("\n"));
  await writeFile(path.join(project, "loom.png"), await page.screenshot());
  const shown = await begin("guide", "Show me the loom");
  for (const words of ["show weave.rs", "image loom.png", "show weaving.log"]) {
    await sendTo(page, words);
    await state(page, "Idle").waitFor();
  }
  await writeFile(path.join(project, "test.sh"), 'for part in warp weft selvedge; do printf "test %s ... \\033[32mok\\033[0m\\n" $part; done; printf "test knots ... \\033[31mFAILED\\033[0m\\n"; exit 101\n');
  await sendTo(page, "display sh test.sh");
  await page.getByRole("button", { name: /^Allow once/ }).click();
  await state(page, "Idle").waitFor();

  const spent = await begin("guide", "What the weaving costs");
  for (const words of ["spend 48200 3100 0.42", "spend 125000 8700", "say Nobody counted this one."]) {
    await sendTo(page, words);
    await state(page, "Idle").waitFor();
  }
  const empty = await begin("guide", "");
  await page.getByText("Nothing has been said yet.").waitFor();
  const long = await begin("guide", "A long answer");
  await sendTo(page, LONG_TEXT);
  await state(page, "Idle").waitFor();
  await sendTo(page, "long 400");
  await turn(page, 2, "word400").waitFor();
  await state(page, "Idle").waitFor();
  await page.getByRole("log").focus();
  await page.keyboard.press("f");
  await page.getByRole("dialog", { name: "Fork from turn 2" }).getByRole("textbox").fill("say Another way.");
  await page.getByRole("button", { name: "Fork and send" }).click();
  await turn(page, 1, "Another way.").waitFor();
  await state(page, "Idle").waitFor();
  const forked = new URL(page.url()).pathname.split("/").at(-1);
  await begin("guide", "An answer that nobody has seen");
  await sendTo(page, "slow 2");
  const running = await begin("guide", "Summarise what changed since the last release");
  await sendTo(page, "say First, the log. Then the page. Then the rest.");
  await state(page, "Idle").waitFor();
  await sendTo(page, "slow 3600");
  await turn(page, 2, "Taking 3600 s.").waitFor();
  await sendTo(page, "Then write the changelog.");
  await sendTo(page, "And open the pull request, with the changelog as its text and a link to every issue that it closes.");
  await page.getByRole("region", { name: "Waiting prompt" }).nth(1).waitFor();
  await page.goto(`${origin}/s/${empty}`);
  await page.getByRole("link", { name: /nobody has seen.*Unseen/s }).waitFor();
  return { interrupted, resumed, locked, work, condensed, about, shown, spent, empty, long, forked, running };
}
