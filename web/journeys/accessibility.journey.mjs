// WCAG 2.2 AA as far as axe can tell, in both sizes and both colour schemes; and that nothing on the way made the
// browser complain, about the page's own policy above all.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { checkAccessibility as check } from "./axe.mjs";
import { openStage, promptField, sendTo } from "./stage.mjs";
import { browserForAll, createSession, DESKTOP, leaveAll, newPage, open, PHONE, send, signIn, state, turn } from "./support.mjs";

const EVENT_MODEL = {
  slice: "notify",
  label: "Notify the weaver",
  screen: "Loom",
  command: { name: "NotifyWeaver", new: true },
  events: [{ name: "WeaverNotified", new: true, feeds: ["Shown"] }],
  projections: [{ name: "Shown" }],
  sideEffects: ["Mail"],
};
const LONG_PROMPT = `say # What to weave\n\n### The flowers\n\n${"- a **leaf** that hangs over the edge\n".repeat(20)}`;

for (const viewport of [DESKTOP, PHONE]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing at ${viewport.width} px, ${colorScheme}`, async (t) => {
      const { server, browser } = await open(t);
      const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
      t.after(() => rm(cwd, { recursive: true, force: true }));
      const options = { viewport, colorScheme, reducedMotion: "reduce" };
      const stranger = await newPage(browser, options);
      await stranger.page.goto(server.origin);
      await stranger.page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
      await check(stranger.page, "signed out");

      const { page, complaints } = await newPage(browser, options);
      await signIn(page, server.link());
      await page.getByRole("heading", { name: "Start with one session" }).locator("visible=true").waitFor();
      await check(page, "no sessions");

      await createSession(page, { name: "looked over", cwd });
      await page.getByText("Nothing has been said yet.").waitFor();
      await check(page, "empty session");
      await send(page, "long 60");
      await turn(page, 1, "word60").waitFor();
      await state(page, "Idle").waitFor();
      await send(page, 'say ```ts\n// Every kind of piece.\nconst a = "b" + f(1);\n```\n```diff\n-old\n+new\n```');
      await turn(page, 2).locator(".code-inserted").last().waitFor();
      await state(page, "Idle").waitFor();
      await send(page, "slow 3600");
      await turn(page, 3, "Taking 3600 s.").waitFor();
      await send(page, "say later");
      await page.getByRole("region", { name: "Waiting prompt" }).waitFor();
      await check(page, "running session with a waiting prompt");
      await page.getByRole("button", { name: "Stop" }).click();
      await turn(page, 4, "later").waitFor();
      await state(page, "Idle").waitFor();

      await send(page, "write looked-over.md # Hello");
      await turn(page, 5, "I wrote").waitFor();
      await state(page, "Idle").waitFor();
      const footer = page.getByRole("region", { name: "Context", exact: true });
      await footer.getByRole("link", { name: /looked-over.md/ }).waitFor();
      await check(page, "footer");
      await footer.getByRole("button", { name: "Open the context panel" }).click();
      const panel = page.getByRole(viewport === PHONE ? "dialog" : "complementary", { name: "Context" });
      await panel.getByRole("button", { name: /What the agent would be told/ }).click();
      await panel.getByText(/characters, about/).waitFor();
      await panel.getByRole("button", { name: "New set" }).click();
      await check(page, "context");
      await page.keyboard.press("Escape");
      await page.goto(`${page.url().replace(/[?#].*/, "")}?file=${encodeURIComponent(path.join(cwd, "looked-over.md"))}`);
      await page.getByRole("dialog", { name: "looked-over.md" }).getByText("# Hello").waitFor();
      await check(page, "file");
      await page.keyboard.press("Escape");

      await send(page, LONG_PROMPT);
      await turn(page, 6).getByRole("button", { name: /^Show all/ }).first().click();
      await state(page, "Idle").waitFor();
      await check(page, "long prompt and answer with headings");
      await send(page, `say \`\`\`throughline:eventmodel\n${JSON.stringify(EVENT_MODEL)}\n\`\`\``);
      await turn(page, 7).getByRole("button", { name: /NotifyWeaver/ }).waitFor();
      await state(page, "Idle").waitFor();
      await check(page, "event model");
      await send(page, "run echo hello");
      const question = page.getByRole("region", { name: /^Needs you/ });
      await question.getByRole("button", { name: "Other answers" }).click();
      await check(page, "question");
      await question.getByRole("button", { name: /^Always allow exactly this/ }).click();
      await turn(page, 8, "Allowed by").waitFor();
      await state(page, "Idle").waitFor();
      await page.getByRole("log").focus();
      await page.keyboard.press("g");
      const goTo = page.getByRole("dialog", { name: "Go to a session" });
      await goTo.getByRole("option").first().waitFor();
      await check(page, "go to");
      await page.keyboard.type("zzzz");
      await goTo.getByText("Nothing is called that.", { exact: true }).waitFor();
      await check(page, "go to, nothing found");
      await page.keyboard.press("Escape");

      await page.getByRole("button", { name: /^Earlier titles/ }).click();
      await page.getByRole("group", { name: "Titles of this session" }).getByRole("link").first().waitFor();
      await check(page, "titles");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Contents" }).click();
      await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: /Turn 5/ }).waitFor();
      await check(page, "contents");
      await page.keyboard.press("Escape");
      await page.getByRole("log").focus();
      await page.keyboard.press("Control+f");
      await page.keyboard.type("word60");
      await page.getByRole("search").getByText("1 of 1 turn").waitFor();
      await check(page, "find");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      const palette = page.getByRole("dialog", { name: "Search" });
      await palette.getByRole("option", { name: /looked over/ }).waitFor();
      await check(page, "palette");
      await page.keyboard.type("word60 ro");
      await palette.getByRole("option", { name: /role:/ }).waitFor();
      await palette.locator("mark").first().waitFor();
      await check(page, "search");
      await page.keyboard.press("Escape");

      await page.goto(server.origin);
      await page.getByRole("link", { name: /looked over/ }).waitFor();
      await check(page, "list");
      await page.goto(`${server.origin}/settings/permissions`);
      await page.getByRole("main").getByText("echo hello").waitFor();
      await check(page, "permissions");
      await page.goto(server.origin);
      await page.getByRole("button", { name: "New session" }).first().click();
      await page.getByRole("dialog").getByText(/./).first().waitFor();
      await check(page, "new session");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
      await check(page, "keys");

      await page.goto(`${server.origin}/nowhere`);
      await page.getByRole("heading", { name: "Nothing is at this address" }).waitFor();
      await check(page, "unknown address");
      await page.goto(`${server.origin}/s/0190a8c0-0000-7000-8000-0000000000c1`);
      await page.getByRole("heading", { name: "There is no such session" }).waitFor();
      await check(page, "unknown session");
      assert.deepEqual(complaints, []);
    });
  }
}

for (const [viewport, colorScheme] of [[DESKTOP, "light"], [PHONE, "dark"]]) {
  test(`axe finds nothing in what agents show and ask for at ${viewport.width} px, ${colorScheme}`, async (t) => {
    const stage = await openStage();
    const browser = await browserForAll();
    const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
    t.after(async () => {
      await leaveAll(browser);
      await stage.end();
      await rm(cwd, { recursive: true, force: true });
    });
    const { page, complaints } = await newPage(browser, { viewport, colorScheme, reducedMotion: "reduce" });
    await signIn(page, await stage.server.freshLink());
    const begin = async (agent, name) => {
      await page.goto(`${stage.server.origin}/s/${await stage.begin(agent, cwd, name)}`);
      await promptField(page).waitFor();
    };
    await begin("locked", "signed out");
    await sendTo(page, "Begin with the warp.");
    await page.getByRole("button", { name: /Sign in/ }).first().waitFor();
    await check(page, "an agent that wants a sign-in");

    await begin("stage", "at work");
    await sendTo(page, "condense 0");
    await turn(page, 1, "I go on").waitFor();
    await state(page, "Idle").waitFor();
    await sendTo(page, "work");
    await page.getByRole("region", { name: /^Needs you/ }).waitFor();
    await check(page, "thoughts, a plan, calls, a change, code and a question");
    await stage.server.end("SIGKILL");
    await page.getByText("Connection lost.").locator("visible=true").waitFor();
    await check(page, "connection lost");
    await stage.server.restart();
    await turn(page, 2, "Interrupted.").waitFor();
    await check(page, "an interrupted turn, and an agent that is not running");
    await sendTo(page, "What changed?");
    await page.getByRole("button", { name: /What the agent was told/ }).click();
    await state(page, "Idle").waitFor();
    await check(page, "what the agent was told");

    await page.getByRole("button", { name: "More of this session" }).click();
    await check(page, "menu");
    await page.getByRole("button", { name: "Delete session" }).locator("visible=true").click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await check(page, "undo");
    await page.goBack();
    await page.getByRole("heading", { level: 1 }).locator("visible=true").waitFor();
    await check(page, "a deleted session");
    // A server that is killed leaves requests without an answer.
    assert.deepEqual(complaints.filter((words) => !/WebSocket|ERR_/.test(words)), []);
  });
}
