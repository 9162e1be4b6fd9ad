// Applets beside the conversation: shown by an agent, as they are and as they were, with a state that lasts; how the footer and
// the address lead back to one, and what becomes of their errors.
import assert from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { answerAsk, answerOf, callTool, frameOf, heading, menu, panelOf, saveApplet, searchOf, stateOf, woven } from "./applets.mjs";
import { checkAccessibility } from "./axe.mjs";
import { pageIsWider } from "./shown.mjs";
import { api, comesToBe, composer, createSession, ended, launchBrowser, newPage, open, PHONE, send, signIn, TOUCH_PHONE, turn } from "./support.mjs";

const card = (page, number, name) => turn(page, number).getByRole("figure", { name: `Applet: ${name}` });
const footer = (page) => page.getByRole("region", { name: "Context", exact: true });
const countOf = (page) => frameOf(page).getByRole("status").first().textContent();

/** An applet that counts presses in its window alone, by a handler in its HTML. */
const tally = (words) => ({
  title: "Tally",
  html: `<h1>${words}</h1><button onclick="more()">More</button> <output id="count">0</output>`,
  css: "h1 { color: var(--thread); }",
  js: `let presses = 0; const more = () => { presses += 1; document.getElementById("count").textContent = presses; }; expose(more);`,
});

test("an agent shows an applet: it opens by itself, changes, is there as it was, is saved and follows its files", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page, complaints } = await newPage(browser, { reducedMotion: "reduce" });
  await signIn(page, server.link());
  const session = await createSession(page, { name: "tally" });
  await callTool(page, 1, "set_applet", tally("Knots"));
  await card(page, 1, "Tally").getByText("not saved").waitFor();
  await heading(page, "Tally").waitFor();
  assert.equal(searchOf(page), "?applet=_shown");
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "TEXTAREA", "what is written goes on being written");
  // Handlers in its HTML find what its script exposes; nothing else of it is on the window.
  await frameOf(page).getByRole("button", { name: "More" }).click();
  await comesToBe(() => frameOf(page).locator("#count").textContent(), "1");
  assert.equal(await frameOf(page).locator("body").evaluate(() => typeof presses), "undefined");
  assert.equal(await frameOf(page).getByRole("heading").evaluate((element) => getComputedStyle(element).color), await page.locator("body").evaluate((body) => {
    const probe = Object.assign(document.createElement("i"), { style: "color: var(--thread)" });
    body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }));
  await checkAccessibility(page, "an applet beside the transcript");

  // Another one takes its place, and the first is still there as it was.
  await callTool(page, 2, "set_applet", tally("Threads"));
  await frameOf(page).getByRole("heading", { name: "Threads" }).waitFor();
  await card(page, 1, "Tally").getByRole("link", { name: "Open Tally", exact: true }).waitFor({ state: "detached" });
  await card(page, 1, "Tally").getByRole("link", { name: "Open Tally as it was in turn 1" }).click();
  await frameOf(page).getByRole("heading", { name: "Knots" }).waitFor();
  await panelOf(page).getByText("as it was shown in turn 1").waitFor();
  await card(page, 1, "Tally").getByText("open as it was").waitFor();
  await checkAccessibility(page, "an applet as it was");
  await page.reload();
  await frameOf(page).getByRole("heading", { name: "Knots" }).waitFor();
  await panelOf(page).getByRole("button", { name: "Open today’s" }).click();
  await frameOf(page).getByRole("heading", { name: "Threads" }).waitFor();

  await callTool(page, 3, "save_applet", { slug: "tally", name: "Tally of threads" });
  await turn(page, 3).getByRole("link", { name: "Tally of threads" }).click();
  await heading(page, "Tally of threads").waitFor();
  assert.equal(searchOf(page), "?applet=tally");
  assert.match(await answerOf(server, dataDir, session, 3), /applets\/tally: meta\.json, content\.html/);

  // An agent edits the files with its own tools.
  const content = path.join(dataDir, "applets", "tally", "content.html");
  await writeFile(content, (await readFile(content, "utf8")).replace("Threads", "Selvedges"));
  await frameOf(page).getByRole("heading", { name: "Selvedges" }).waitFor();
  await panelOf(page).getByText("It was changed").waitFor();
  await panelOf(page).getByRole("button", { name: "Hide" }).click();
  await panelOf(page).getByText("It was changed").waitFor({ state: "detached" });

  // Taken away by hand, what is open stays, and says so.
  const gone = panelOf(page).getByText("This applet is not there any more");
  await rename(path.dirname(content), path.join(dataDir, "aside"));
  await gone.waitFor();
  await frameOf(page).getByRole("heading", { name: "Selvedges" }).waitFor();
  await rename(path.join(dataDir, "aside"), path.dirname(content));
  await gone.waitFor({ state: "detached" });

  // Deleted in its menu, it is still there as it was.
  await page.getByRole("button", { name: "Close the applet" }).click();
  await panelOf(page).waitFor({ state: "detached" });
  await callTool(page, 4, "load_applet", { slug: "tally", params: { of: "warp" } });
  await frameOf(page).getByRole("heading", { name: "Selvedges" }).waitFor();
  assert.equal(searchOf(page), "?applet=tally&of=warp");
  await menu(page, "Delete applet…");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await panelOf(page).waitFor({ state: "detached" });
  await card(page, 4, "Tally of threads").getByRole("link", { name: /as it was in turn 4/ }).click();
  await frameOf(page).getByRole("heading", { name: "Selvedges" }).waitFor();
  assert.deepEqual(complaints.filter((words) => !words.includes("404")), []);
});

test("where there is no room beside the transcript the card says that there is one, and it lies over it", async (t) => {
  const { server, browser } = await open(t);
  const { page, complaints } = await newPage(browser, TOUCH_PHONE);
  await signIn(page, server.link());
  await createSession(page, { name: "tally" });
  await composer(page).fill("applet counter");
  await page.getByRole("button", { name: "Send", exact: true }).tap();
  await ended(page, 1);
  await card(page, 1, "Counter").getByText("new, open it").waitFor();
  assert.equal(await panelOf(page).count(), 0);
  await checkAccessibility(page, "the card of a new applet");
  await card(page, 1, "Counter").getByRole("link", { name: "Open Counter", exact: true }).tap();
  await frameOf(page).getByRole("button", { name: "One more" }).tap();
  await comesToBe(() => countOf(page), "1");
  const { width, height } = PHONE;
  const box = await panelOf(page).boundingBox();
  assert.deepEqual([box.x, box.width, Math.round(box.y + box.height)], [0, width, height]);
  assert.ok(await panelOf(page).evaluate((panel) => panel.contains(document.activeElement)), "it has the focus");
  await checkAccessibility(page, "an applet over the transcript");
  assert.equal(await pageIsWider(page), false);
  await page.getByRole("button", { name: "Close the applet" }).tap();
  await panelOf(page).waitFor({ state: "detached" });
  await composer(page).waitFor();
  assert.equal(await card(page, 1, "Counter").getByText("new, open it").count(), 0);
  assert.deepEqual(complaints, []);
});

test("the state survives reload, kill -9 and a second browser at phone size, goes back, and agents read and write it", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const baseURL = server.origin;
  const { page } = await newPage(browser, { baseURL });
  await signIn(page, server.link());
  const session = await createSession(page, { name: "count" });
  await send(page, "applet counter");
  await ended(page, 1);
  const more = (on) => frameOf(on).getByRole("button", { name: "One more" });
  const counted = async () => (await stateOf(server, dataDir, "counter")).state.count;
  for (let presses = 0; presses < 3; presses++) {
    await more(page).click();
  }
  await comesToBe(() => countOf(page), "3");
  await comesToBe(counted, 3);
  const first = await stateOf(server, dataDir, "counter");

  const second = await launchBrowser();
  t.after(() => second.close());
  const { page: phone } = await newPage(second, { baseURL, ...TOUCH_PHONE });
  await signIn(phone, await server.freshLink());
  await phone.goto(`/s/${session}?applet=counter`);
  await comesToBe(() => countOf(phone), "3");
  // One version is kept of each second.
  await comesToBe(async () => Date.now() > first.version + 1_000, true);
  await more(phone).tap();
  await comesToBe(() => countOf(page), "4");
  await page.reload();
  await comesToBe(() => countOf(page), "4");

  await server.end("SIGKILL");
  // What it writes meanwhile is there at once, and goes to the server with the connection.
  await more(page).click();
  await comesToBe(() => countOf(page), "5");
  // Whoever leaves now is asked, for it is in this tab alone, and stays. Later the server may have it before the page has heard so.
  const asked = [];
  page.on("dialog", (dialog) => void (asked.push(dialog.type()) === 1 ? dialog.dismiss() : dialog.accept()));
  await page.getByText("The connection is lost. What you do here is kept in this tab").waitFor();
  await page.evaluate(() => setTimeout(() => window.location.reload()));
  await comesToBe(() => asked, ["beforeunload"]);
  await server.restart();
  await comesToBe(counted, 5);
  for (const one of [page, phone]) {
    await comesToBe(() => countOf(one), "5");
  }
  for (const one of [page, phone]) {
    await one.reload();
    await comesToBe(() => countOf(one), "5");
  }
  assert.deepEqual(JSON.parse(await readFile(path.join(dataDir, "applets", "counter", "state.json"), "utf8")), { count: 5 });

  // Agents read it and write it.
  await callTool(page, 2, "get_applet_state", {});
  const told = JSON.parse(await answerOf(server, dataDir, session, 2));
  assert.deepEqual([told.activeSlug, told.state], ["counter", { count: 5 }]);
  await callTool(page, 3, "set_applet_state", { data: { count: 40 } });
  for (const one of [page, phone]) {
    await comesToBe(() => countOf(one), "40");
  }

  // Back to an earlier version, which is a new one.
  await menu(page, "Versions and undo…");
  const versions = page.getByLabel("What can be done with this applet");
  await versions.getByText("now", { exact: true }).waitFor();
  await checkAccessibility(page, "the versions of a state");
  const oldest = (await api(server, dataDir, "/storage/applet/counter/versions")).versions.at(-1).version;
  const { state: then } = await api(server, dataDir, `/storage/applet/counter/versions/${oldest}`);
  assert.ok([1, 2, 3].includes(then.count));
  await versions.getByRole("button", { name: /^Restore/ }).last().click();
  for (const one of [page, phone]) {
    await comesToBe(() => countOf(one), String(then.count));
  }
  assert.ok((await stateOf(server, dataDir, "counter")).version > told.version);
  // By hand, too.
  await writeFile(path.join(dataDir, "applets", "counter", "state.json"), '{"count": 12}');
  for (const one of [page, phone]) {
    await comesToBe(() => countOf(one), "12");
  }
});

test("the footer and the address lead to an applet with what it was given, and nothing opens one by itself", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const cwd = await woven(t);
  const { page } = await newPage(browser);
  await signIn(page, server.link());
  const session = await createSession(page, { cwd, name: "about" });
  const { page: second } = await newPage(browser);
  await signIn(second, await server.freshLink());
  await second.goto(`${server.origin}/s/${session}`);
  const patches = [];
  page.on("request", (request) => request.method() === "PATCH" && patches.push(request.postData()));
  const noted = async () => (await api(server, dataDir, `/sessions/${session}/context`)).context.applet ?? null;
  await send(page, "say Nothing is open.");
  await ended(page, 1);
  assert.deepEqual(patches, [], "without an applet nothing is noted");

  // A link in the agent's words; when the session comes to rest, it is noted what is open.
  await send(page, "say See [the notes](?applet=text-editor&path=notes.md&line=2).");
  await ended(page, 2);
  await turn(page, 2).getByRole("link", { name: "the notes" }).click();
  await answerAsk(page, "read files", "Allow");
  await comesToBe(() => frameOf(page).getByRole("textbox").inputValue(), "warp\nweft\n");
  assert.equal(searchOf(page), "?applet=text-editor&path=notes.md&line=2");
  assert.equal(await noted(), null);
  await send(page, "say At rest.");
  await ended(page, 3);
  await comesToBe(noted, ["text-editor", "path=notes.md", "line=2"]);
  // The other browser hears of it at once.
  const link = (on) => footer(on).getByRole("link", { name: "[text-editor]" });
  await link(second).waitFor();
  assert.equal(await panelOf(second).count(), 0);

  // When it is left, too; and where it stays the same nothing is sent again.
  const before = patches.length;
  await page.getByRole("button", { name: "Close the applet" }).click();
  await panelOf(page).waitFor({ state: "detached" });
  await page.goto(`${server.origin}/s/${session}`);
  await composer(page).waitFor();
  await link(page).waitFor();
  assert.equal(await panelOf(page).count(), 0, "a reload opens nothing");
  assert.equal(patches.length, before);
  await link(page).click();
  await comesToBe(() => frameOf(page).getByRole("textbox").inputValue(), "warp\nweft\n");
  assert.equal(searchOf(page), "?applet=text-editor&path=notes.md&line=2");
  await page.goto(`${server.origin}/s/${session}?applet=counter`);
  await frameOf(page).getByRole("button", { name: "One more" }).click();
  await page.getByRole("button", { name: "Close the applet" }).click();
  await comesToBe(noted, ["counter"]);
  await footer(second).getByRole("link", { name: "[counter]" }).waitFor();

  // A restart and a resume open nothing.
  await server.end("SIGKILL");
  await server.restart();
  await page.goto(`${server.origin}/s/${session}`);
  await send(page, "say Resumed.");
  await ended(page, 4, "Resumed.");
  assert.equal(await panelOf(page).count(), 0);
  assert.equal(searchOf(page), "");

  // A note that fails is quiet.
  await page.route(/\/api\/v1\/sessions\/[^/]+$/, (route) => (route.request().method() === "PATCH" ? route.fulfill({ status: 503, json: { error: { code: "busy", message: "busy" } } }) : route.continue()));
  await footer(page).getByRole("link", { name: "[counter]" }).click();
  await frameOf(page).getByRole("button", { name: "One more" }).click();
  const [refused] = await Promise.all([page.waitForResponse((response) => response.request().method() === "PATCH"), page.goto(`${server.origin}/s/${session}?applet=plan`).then(() => page.getByRole("button", { name: "Close the applet" }).click())]);
  assert.equal(refused.status(), 503);
  assert.equal(await page.getByRole("alert").count(), 0);

  // A file of the footer opens in the editor.
  await page.unroute(/\/api\/v1\/sessions\/[^/]+$/);
  await send(page, "write woven.md hello");
  await ended(page, 5, "I wrote");
  await footer(page).getByRole("link", { name: /woven\.md/ }).click();
  await heading(page, "Text editor").waitFor();
  await comesToBe(() => frameOf(page).getByRole("textbox").inputValue(), "hello");
});

test("all applets are listed from the search and from the menu, and Back leads through what was opened", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page, complaints } = await newPage(browser, { reducedMotion: "reduce" });
  await signIn(page, server.link());
  const session = await createSession(page, { name: "all" });
  await saveApplet(server, dataDir, "shelves", {
    name: "Shelves of yarn",
    description: "One shelf at a time.",
    html: `<button onclick="navigateAppletUrlParam('shelf', 'wool')">Wool</button> <button onclick="updateAppletUrlParam('order', 'by-weight')">By weight</button> <p id="shelf"></p>`,
    js: `onUrlParamsChange((params) => { document.getElementById("shelf").textContent = JSON.stringify({ ...params }); });`,
  });
  await composer(page).focus();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search" });
  // What is typed before it is there goes where the focus was.
  await palette.getByRole("option").first().waitFor();
  await page.keyboard.type("applets");
  await palette.getByRole("option", { name: /^Applets/ }).click();
  await heading(page, "Applets").waitFor();
  const frame = frameOf(page);
  await frame.getByRole("button", { name: /^Counter/ }).waitFor();
  assert.deepEqual(await frame.locator("#bundled .slug").allTextContents(), ["counter", "file-browser", "git-diff", "git-status", "image-viewer", "plan", "text-editor"]);
  await frame.getByRole("searchbox").fill("yarn");
  await frame.getByRole("button", { name: /Shelves of yarn/ }).click();
  await heading(page, "Shelves of yarn").waitFor();
  const params = (words) => comesToBe(() => frame.locator("#shelf").textContent(), words);
  await params("{}");
  await frame.getByRole("button", { name: "Wool" }).click();
  await params('{"shelf":"wool"}');
  assert.equal(searchOf(page), "?applet=shelves&shelf=wool");
  // This one replaces the step instead of making one.
  await frame.getByRole("button", { name: "By weight" }).click();
  await params('{"shelf":"wool","order":"by-weight"}');
  await page.goBack();
  await params("{}");
  await heading(page, "Shelves of yarn").waitFor();
  await page.goBack();
  await heading(page, "Applets").waitFor();
  await page.goForward();
  await heading(page, "Shelves of yarn").waitFor();
  await menu(page, "All applets");
  await heading(page, "Applets").waitFor();
  await checkAccessibility(page, "all applets");
  assert.equal(new URL(page.url()).pathname, `/s/${session}`);
  // From the session's own menu.
  await page.getByRole("button", { name: "Close the applet" }).click();
  await panelOf(page).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "More of this session" }).click();
  await page.getByRole("button", { name: "Applets", exact: true }).click();
  await heading(page, "Applets").waitFor();
  assert.deepEqual(complaints, []);
});

test("errors of an applet are listed, and one press puts them into the prompt", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const { page } = await newPage(browser, { reducedMotion: "reduce" });
  await signIn(page, server.link());
  const session = await createSession(page, { name: "errors" });
  await saveApplet(server, dataDir, "knotted", {
    name: "Knotted",
    html: `<button onclick="pull()">Pull</button>`,
    js: `expose({ pull: () => Promise.reject(new Error("a knot in the weft")) });\nthrow new TypeError("the warp is torn");`,
  });
  await page.goto(`${server.origin}/s/${session}?applet=knotted`);
  await composer(page).fill("Look at this.");
  await panelOf(page).getByRole("button", { name: "1 error" }).waitFor();
  await frameOf(page).getByRole("button", { name: "Pull" }).click();
  await panelOf(page).getByRole("button", { name: "2 errors" }).click();
  await panelOf(page).getByText("the warp is torn").first().waitFor();
  await panelOf(page).getByText("a knot in the weft").first().waitFor();
  await checkAccessibility(page, "errors of an applet");
  await panelOf(page).getByRole("button", { name: "Send to agent" }).click();
  await comesToBe(async () => /^Look at this\.\s+The applet “Knotted” \(knotted\) reports 2 errors:[^]*the warp is torn[^]*a knot in the weft/.test(await composer(page).inputValue()), true);
  assert.equal(await turn(page, 1).count(), 0, "the person sends it");
  assert.doesNotMatch(await composer(page).inputValue(), /applet-frame/, "no address that means nothing to anybody");
});
