// What an agent showed: its card, its lines, its place in the list of what was shown, at both sizes, after a restart and in
// another browser; that nothing moves when a card fills in, that an edited file is known as such and a drawing runs nothing.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { checkAccessibility } from "./axe.mjs";
import { card, CODE, EACH, everyCardIsThere, loom, pageIsWider, showEach } from "./shown.mjs";
import { api, comesToBe, composer, createSession, DESKTOP, ended, launchBrowser, newPage, open, PHONE, send, signIn, turn } from "./support.mjs";

/** Opens the tab or the sheet of what was shown. */
async function openShown(page) {
  await page.getByRole("log").focus();
  await page.keyboard.press("o");
  const list = page.getByRole("list", { name: "What was shown" });
  await list.waitFor();
  return list;
}

for (const viewport of [DESKTOP, PHONE]) {
  test(`files and pictures are shown, listed and linked at ${viewport.width} px`, async (t) => {
    const { server, browser } = await open(t);
    const cwd = await loom(t);
    const { page, complaints } = await newPage(browser, { viewport, permissions: ["clipboard-read", "clipboard-write"], reducedMotion: "reduce" });
    await signIn(page, server.link());
    await writeFile(path.join(cwd, "loom.png"), await page.screenshot());
    const session = await createSession(page, { cwd });
    await send(page, "show shuttle.rs");
    await ended(page, 1);
    const file = card(page, "shuttle.rs");
    await file.locator(".code-comment").first().waitFor();
    assert.equal(await file.locator("code").textContent(), CODE);
    assert.equal(await pageIsWider(page), false, "long lines scroll in their card");
    await checkAccessibility(page, "file");

    // A number names its line, and the address leads there.
    await file.locator('[data-line="3"]').click();
    await file.getByText("Link to line 3 copied").waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
    assert.match(page.url(), new RegExp(`/s/${session}#t1\\.out_[0-9a-f]{32}\\.L3$`));
    await page.locator("html").click({ position: { x: 1, y: 1 } });

    await send(page, "image loom.png");
    await ended(page, 2);
    const picture = card(page, "loom.png");
    await picture.getByText(`${viewport.width.toLocaleString("en")} × ${viewport.height} ·`).waitFor();
    await send(page, "show weaving.log");
    await ended(page, 3);
    await card(page, "weaving.log").getByText("entry 20").first().waitFor();

    const list = await openShown(page);
    await comesToBe(async () => (await list.getByRole("link").allTextContents()).map((words) => /^(\S+?\.(?:log|png|rs)).*(t\d)$/.exec(words)?.slice(1).join(" ")), ["weaving.log t3", "loom.png t2", "shuttle.rs t1"]);
    await checkAccessibility(page, "what was shown");
    await page.getByRole("button", { name: "Pictures", exact: true }).click();
    await list.getByRole("link", { name: /loom\.png/ }).click();
    await page.waitForFunction(() => document.activeElement?.matches("[data-output]"));
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Output: loom.png");

    // The window: Escape closes it, and the focus is where it was.
    await picture.getByRole("button", { name: "loom.png, show larger" }).click();
    const window = page.getByRole("dialog", { name: "loom.png" });
    await page.keyboard.press("1");
    await window.getByRole("button", { name: "100 %", pressed: true }).waitFor();
    await page.keyboard.press("+");
    await window.getByText("150 %").waitFor();
    await checkAccessibility(page, "picture");
    await page.keyboard.press("Escape");
    await window.waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "loom.png, show larger");

    // A long file comes by pages, and its lines are found by their words.
    await page.goto(`${server.origin}/s/${session}#t3`);
    await card(page, "weaving.log").getByRole("button", { name: /^Open all [\d,]+ lines$/ }).click();
    const log = page.getByRole("dialog", { name: "weaving.log" });
    await log.getByRole("searchbox").fill("KNOT");
    await log.getByRole("button", { name: "4322 entry 4322 with a knot in it" }).click();
    await log.locator('[data-line="4322"][data-marked]').waitFor();
    await checkAccessibility(page, "long file");
    await page.keyboard.press("Escape");
    assert.equal(await pageIsWider(page), false);
    assert.deepEqual(complaints, []);
  });
}

test("each card is there after the server was killed, at both sizes, in the same browser and in a second one", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const cwd = await loom(t);
  const baseURL = server.origin;
  const desk = await newPage(browser, { baseURL });
  await signIn(desk.page, server.link());
  const session = await showEach(desk.page, cwd);
  const phone = await newPage(browser, { baseURL, viewport: PHONE });
  await signIn(phone.page, await server.freshLink());
  await phone.page.goto(`/s/${session}#t1`);
  await card(phone.page, "shuttle.rs").waitFor();
  const { outputs } = await api(server, dataDir, `/sessions/${session}/outputs`);
  assert.deepEqual(outputs.map(({ type }) => type), ["file", "image", "file", "terminal", "embed"]);
  // The files themselves may go.
  await Promise.all(["shuttle.rs", "weaving.log", "loom.png"].map((name) => rm(path.join(cwd, name))));
  await server.end("SIGKILL");
  await server.restart();

  const second = await launchBrowser();
  t.after(() => second.close());
  const visitors = [desk, phone];
  for (const viewport of [DESKTOP, PHONE]) {
    const visitor = await newPage(second, { baseURL, viewport });
    await signIn(visitor.page, await server.freshLink());
    visitors.push(visitor);
  }
  for (const { page } of visitors) {
    await page.reload();
    await everyCardIsThere(page, session);
  }
  assert.deepEqual(visitors.slice(2).flatMap(({ complaints }) => complaints), []);

  // A link leads to its line.
  const { page } = visitors.at(-1);
  await page.goto(`/s/${session}#t1.${outputs[0].id}.L41`);
  await card(page, "shuttle.rs").locator('[data-line="41"][data-marked]').waitFor();
  const inSight = (line) =>
    page.evaluate((number) => {
      const [mark, region] = [document.querySelector(`[data-line="${number}"][data-marked]`), document.querySelector("[data-output] pre")].map((element) => element?.getBoundingClientRect());
      return mark !== undefined && mark.top >= region.top && mark.bottom <= region.bottom && mark.top > 0 && mark.bottom < window.innerHeight;
    }, line);
  await comesToBe(() => inSight(41), true);
  // Of a long file too, which is read from there.
  await page.goto(`/s/${session}#t3.${outputs[2].id}.L5000-5002`);
  await comesToBe(() => card(page, "weaving.log").locator("[data-marked]").allTextContents(), ["5000\n", "5001\n", "5002\n"]);

  // A file of theirs that somebody edited is said to be, on every card whose text it is, and one that is missing too.
  const kept = (index, extension) => path.join(dataDir, "sessions", session, "outputs", `${outputs[index].id}.${extension}`);
  for (const [index, extension] of [[0, "txt"], [1, "png"], [2, "txt"]]) {
    await writeFile(kept(index, extension), Buffer.concat([await readFile(kept(index, extension)), Buffer.from("edited\n")]));
  }
  await rm(kept(3, "txt"));
  for (const viewer of [visitors[2].page, page]) {
    for (const number of [1, 2, 3]) {
      await viewer.goto(`/s/${session}#t${number}`);
      await viewer.reload();
      await turn(viewer, number).getByRole("figure", { name: /^Output: / }).getByText(/^edited since · /).waitFor();
    }
    await viewer.goto(`/s/${session}#t4`);
    await viewer.reload();
    await turn(viewer, 4).getByText("The bytes of this output are gone").waitFor();
  }
});

test("nothing moves when a card fills in", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await loom(t);
  const baseURL = server.origin;
  const first = await newPage(browser);
  await signIn(first.page, server.link());
  const session = await showEach(first.page, cwd);
  for (const viewport of [DESKTOP, PHONE]) {
    // From the first turn on, and from the one with the command and the card of a page elsewhere below it.
    for (const number of [1, 4]) {
      const { page } = await newPage(browser, { viewport, baseURL });
      await signIn(page, await server.freshLink());
      // Bytes of outputs, and what became of them, wait until all that is known without them is drawn.
      let letGo;
      const held = new Promise((resolve) => (letGo = resolve));
      await page.route(/\/outputs\/out_/, async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(`/s/${session}#t${number}`);
      const figure = turn(page, number).getByRole("figure", { name: /^Output: / });
      await figure.waitFor();
      const places = async () =>
        page.evaluate(() => [...document.querySelectorAll("article, figure, figcaption")].map((element) => [element.getAttribute("aria-label") ?? element.tagName, ...["top", "left", "width", "height"].map((side) => Math.round(element.getBoundingClientRect()[side] * 10))].join(" ")));
      let before = await places();
      await comesToBe(async () => {
        const now = await places();
        const still = JSON.stringify(now) === JSON.stringify(before);
        before = now;
        return still && now.some((place) => place.startsWith("Output: "));
      }, true);
      letGo();
      await EACH[number](figure);
      await (number === 1 ? figure.locator(".code-comment").first() : turn(page, 5).getByText("vimeo.com ↗")).waitFor();
      // Of what is in sight nothing is on its way any more.
      await comesToBe(() => page.evaluate(() => [...document.querySelectorAll("[aria-busy=true]")].filter((element) => element.getBoundingClientRect().top < window.innerHeight).length), 0);
      assert.deepEqual(await places(), before, `turn ${number} at ${viewport.width} px`);
      await page.close();
    }
  }
});

test("what is stored of a command stands where its live lines stood", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await loom(t);
  for (const viewport of [DESKTOP, PHONE]) {
    const { page } = await newPage(browser, { viewport, reducedMotion: "reduce" });
    await signIn(page, viewport === DESKTOP ? server.link() : await server.freshLink());
    await createSession(page, { cwd });
    // Fewer lines than a card shows at once, and more.
    for (const [index, last] of [7, 60].entries()) {
      await rm(path.join(cwd, "go"), { force: true });
      await send(page, `display printf '\\033[32mbegun\\033[0m\\n'; seq 1 ${last}; while [ ! -e go ]; do sleep 0.05; done`);
      await page.getByRole("button", { name: /^Allow once/ }).click();
      const running = turn(page, index + 1).getByRole("figure", { name: /^Running: / });
      await running.locator("code", { hasText: new RegExp(`\\n${last}\\s*$`) }).waitFor({ state: "attached" });
      // The end of the transcript stays in sight, so what is measured is not where the window stands.
      const boxes = async (figure) =>
        figure.evaluate((element) => [element, ...element.querySelectorAll("figcaption, pre")].map((part) => ["left", "width", "height"].map((side) => Math.round(part.getBoundingClientRect()[side] * 10))));
      const before = await boxes(running);
      await writeFile(path.join(cwd, "go"), "");
      await ended(page, index + 1);
      const stored = turn(page, index + 1).getByRole("figure", { name: /^Output: / });
      await stored.locator("strong", { hasText: "exit 0" }).waitFor();
      await comesToBe(async () => (await stored.locator("code").textContent()).endsWith(`\n${last}`), true);
      assert.deepEqual(await boxes(stored), before, `${last} lines at ${viewport.width} px`);
    }
  }
});

test("a command is seen while it prints, and its output stays", async (t) => {
  const { server, browser } = await open(t);
  const cwd = await loom(t);
  for (const viewport of [DESKTOP, PHONE]) {
    const { page, complaints } = await newPage(browser, { viewport, reducedMotion: "reduce" });
    await signIn(page, viewport === DESKTOP ? server.link() : await server.freshLink());
    await createSession(page, { cwd });
    await rm(path.join(cwd, "go"), { force: true });
    const command = "printf '\\033[32mbegun\\033[0m\\n'; while [ ! -e go ]; do sleep 0.05; done; seq 1 40; exit 3";
    await send(page, `display ${command}`);
    await page.getByRole("button", { name: /^Allow once/ }).click();
    const running = turn(page, 1).getByRole("figure", { name: /^Running: / });
    await running.locator(".ansi-fg-2", { hasText: "begun" }).waitFor();
    await checkAccessibility(page, "a running command");
    const head = async (figure) => (await figure.locator("figcaption").boundingBox())?.height;
    const before = await head(running);
    await writeFile(path.join(cwd, "go"), "");
    await ended(page, 1);
    const stored = turn(page, 1).getByRole("figure", { name: /^Output: / });
    await stored.locator("strong", { hasText: "exit 3" }).waitFor();
    assert.equal(await running.count(), 0);
    assert.equal(await head(stored), before, "what is stored stands where the live lines stood");
    await comesToBe(() => stored.locator("code").textContent(), `begun\n${Array.from({ length: 40 }, (_, index) => index + 1).join("\n")}`);
    await page.reload();
    await composer(page).waitFor();
    await stored.locator(".ansi-fg-2", { hasText: "begun" }).waitFor();
    await checkAccessibility(page, "what a command printed");
    assert.deepEqual(complaints, []);
  }
});

test("a drawing with a script in it runs nothing, neither in its card nor where its address is opened", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const cwd = await loom(t);
  const { page, complaints } = await newPage(browser, { baseURL: server.origin });
  await signIn(page, server.link());
  const script = "try { new Image().src = '/ran'; fetch('/ran'); top.ran = true; document.documentElement.setAttribute('data-ran', '') } catch {}";
  await writeFile(path.join(cwd, "loom.svg"), `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload="${script}"><script>${script}</script><rect width="90" height="60" fill="teal"/></svg>`);
  const asked = [];
  page.context().on("request", (request) => asked.push(new URL(request.url()).pathname));
  const session = await createSession(page, { cwd });
  await send(page, "image loom.svg");
  await ended(page, 1);
  const picture = card(page, "loom.svg").locator("img");
  await comesToBe(() => picture.evaluateAll((pictures) => pictures.map(({ complete, naturalWidth }) => ({ complete, naturalWidth }))), [{ complete: true, naturalWidth: 90 }]);
  await card(page, "loom.svg").getByRole("button", { name: /show larger/ }).click();
  await page.getByRole("dialog", { name: "loom.svg" }).getByRole("img").waitFor();

  const { outputs: [output] } = await api(server, dataDir, `/sessions/${session}/outputs`);
  const { url } = await api(server, dataDir, `/sessions/${session}/outputs/${output.id}/ticket`, {});
  const opened = await page.context().newPage();
  await opened.goto("/");
  // Opened as a link of the page opens it, it is saved and not shown.
  const [saved] = await Promise.all([
    opened.waitForEvent("download"),
    opened.evaluate((address) => {
      window.location.href = address;
    }, url),
  ]);
  assert.equal(await readFile(await saved.path(), "utf8"), await readFile(path.join(cwd, "loom.svg"), "utf8"));
  // Even where a browser shows it, the policy that came with it lets nothing run.
  let policy;
  await opened.route(/\/tickets\//, async (route) => {
    const answer = await route.fetch();
    policy = answer.headers()["content-security-policy"];
    await route.fulfill({ response: answer, headers: { ...answer.headers(), "content-disposition": "inline" } });
  });
  await opened.evaluate((address) => {
    window.location.href = address;
  }, url);
  await opened.locator("rect").waitFor();
  assert.match(policy, /default-src 'none'; sandbox/);
  assert.equal(await opened.locator("svg").getAttribute("data-ran"), null);
  assert.deepEqual(await Promise.all([page, opened].map((one) => one.evaluate(() => window.ran))), [undefined, undefined]);
  assert.ok(!asked.includes("/ran"), "nothing was asked for by the drawing");
  assert.deepEqual(complaints, []);
});
