// Tests what runtime.js gives an applet: state that follows the server, parameters, the theme, files, links, forms, and errors
// that reach the page.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { NO_BROWSER, launchBrowser, startStage } from "./stage.mjs";

const options = { skip: NO_BROWSER, timeout: 60_000 };
let browser, stage;

before(async () => {
  if (!NO_BROWSER) {
    [browser, stage] = await Promise.all([launchBrowser(), startStage()]);
  }
});
after(async () => {
  await browser?.close();
  stage?.close();
});

/** Shows an applet, once for each of `given`. What it puts into `window.seen` is what the tests look at. */
async function show(applet, ...given) {
  const content = typeof applet === "string" ? { js: applet } : applet;
  const url = await stage.frame({ ...content, js: `window.seen = [];\n${content.js ?? ""}` });
  const tab = await browser.newPage();
  const shown = given.length === 0 ? [{}] : given;
  await tab.goto(stage.page(shown.map((one) => ({ url, ...one }))));
  const frames = tab.frames().slice(1);
  const host = (change, value) => tab.evaluate(change, value);
  return {
    tab,
    frames,
    frame: frames[0],
    host,
    opened: () => tab.waitForFunction(() => window.host.frames.every(({ initialized }) => initialized)),
    seen: (at = 0) => frames[at].evaluate(() => JSON.parse(JSON.stringify(window.seen))),
    run: (js, at = 0) => frames[at].evaluate(js),
    calls: (method) => host((method) => window.host.frames[0].calls.filter((call) => call.method === method).map(({ params }) => params), method),
    errors: () => host(() => window.host.frames[0].errors),
    settled: () => tab.waitForTimeout(150),
  };
}

const stateSeen = `throughline.onState((state, { own }) => seen.push([state, own]));`;

test("the state is known at once, frozen, and followed", options, async () => {
  const { opened, seen, run, host, settled, tab } = await show(stateSeen, { state: { a: 1, deep: { b: [2] } } });
  await opened();
  await settled();
  assert.deepEqual(await seen(), [[{ a: 1, deep: { b: [2] } }, false]]);
  assert.equal(await run(`Object.isFrozen(throughline.state.deep.b)`), true);
  await host(() => setState(window.host.frames[0].store, { merge: { a: 2 } }));
  await settled();
  assert.deepEqual((await seen()).at(-1), [{ a: 2, deep: { b: [2] } }, false]);
  await tab.close();
});

test("a state that nobody ever set is known too", options, async () => {
  const { opened, seen, settled, tab } = await show(stateSeen, { version: 0 });
  await opened();
  await settled();
  assert.deepEqual(await seen(), [[{}, false]]);
  await tab.close();
});

test("a merge changes its keys, takes those that are null away, and is seen before the server has it", options, async () => {
  const { opened, run, host, settled, tab } = await show("", { state: { a: 1, b: 2 } });
  await opened();
  await settled();
  assert.deepEqual(await run(`(() => { throughline.setState({ a: null, c: 3 }); return throughline.state; })()`), { b: 2, c: 3 });
  await settled();
  assert.deepEqual(await host(() => window.host.frames[0].store.state), { b: 2, c: 3 });
  await tab.close();
});

test("what is written before the page answers goes in one write, in its order", options, async () => {
  const { calls, host, settled, tab } = await show(`for (let n = 1; n <= 100; n += 1) { throughline.setState({ n, ["k" + (n % 3)]: n }); } seen.push(throughline.state.n);`);
  await settled();
  assert.deepEqual(await host(() => window.host.frames[0].store.state), { n: 100, k0: 99, k1: 100, k2: 98 });
  assert.equal((await calls("tools/call")).length, 1);
  await tab.close();
});

test("a thousand writes at once keep the last of them and call seldom", options, async () => {
  const { opened, run, calls, host, settled, tab } = await show("", {});
  await opened();
  await run(`Promise.all(Array.from({ length: 1000 }, (_, n) => throughline.setState({ n })))`);
  await settled();
  assert.equal(await host(() => window.host.frames[0].store.state.n), 999);
  assert.ok((await calls("tools/call")).length <= 25);
  await tab.close();
});

test("two copies of an applet see what either writes", options, async () => {
  const { opened, run, seen, settled, tab } = await show(stateSeen, {}, {});
  await opened();
  await run(`throughline.setState({ from: "the first" })`, 0);
  await settled();
  assert.deepEqual((await seen(1)).at(-1), [{ from: "the first" }, false]);
  assert.deepEqual((await seen(0)).at(-1), [{ from: "the first" }, true]);
  await run(`throughline.setState({ from: "the second" })`, 1);
  await settled();
  assert.deepEqual((await seen(0)).at(-1), [{ from: "the second" }, false]);
  await tab.close();
});

test("a write that expects another version is refused, and what it wrote is not shown any more", options, async () => {
  const { opened, run, host, settled, tab } = await show("", { state: { a: 1 } });
  await opened();
  await settled();
  const known = await run(`throughline.version`);
  await host(() => setState(window.host.frames[0].store, { merge: { a: 2 } }));
  await settled();
  const [code, at] = await run(`throughline.replaceState({ mine: true }, ${known}).then(() => ["written"], (error) => [error.code, error.data.version])`);
  assert.deepEqual([code, at], ["conflict", known + 1]);
  assert.deepEqual(await run(`throughline.state`), { a: 2 });
  assert.deepEqual(await run(`throughline.replaceState({ mine: true }, throughline.version).then(() => throughline.state)`), { mine: true });
  await tab.close();
});

test("a state that is too large, or no object, or of a past turn, is refused here already", options, async () => {
  const { opened, run, tab, calls } = await show("", {});
  await opened();
  const code = (js) => run(`${js}.then(() => "written", (error) => error.code)`);
  assert.equal(await code(`throughline.setState({ text: "é".repeat(140_000) })`), "too_large");
  for (const value of ["null", "[]", '"text"', "1", "undefined"]) {
    assert.equal(await code(`throughline.replaceState(${value})`), "bad_arguments");
  }
  assert.deepEqual(await calls("tools/call"), []);
  await tab.close();
  const past = await show("", { context: { throughline: { past: true } } });
  await past.opened();
  assert.equal(await past.run(`throughline.setState({ a: 1 }).catch((error) => error.code)`), "read_only");
  await past.tab.close();
});

test("parameters are there before anything is drawn, and go to the page when they change", options, async () => {
  const { opened, seen, run, calls, host, settled, tab } = await show(`seen.push(throughline.params); throughline.onParams((params, { own }) => seen.push([params, own]));`, { context: { throughline: { params: { path: "a" } } } });
  await opened();
  assert.deepEqual(await seen(), [{ path: "a" }, [{ path: "a" }, false]]);
  await run(`throughline.setParams({ path: "b", line: 3 }, { push: true })`);
  await run(`throughline.setParams({ line: null })`);
  assert.deepEqual(await calls("throughline/params"), [{ params: { path: "b", line: "3" }, history: "push" }, { params: { path: "b" }, history: "replace" }]);
  await host(() => window.host.frames[0].post({ method: "ui/notifications/host-context-changed", params: { throughline: { params: { path: "c" } } } }));
  await settled();
  assert.deepEqual((await seen()).at(-1), [{ path: "c" }, false]);
  await tab.close();
});

test("the theme is there at the first paint and follows the page's", options, async () => {
  const { opened, seen, run, host, settled, tab } = await show(`seen.push(document.documentElement.dataset.theme); throughline.onTheme((theme) => seen.push(theme));`, {
    context: { theme: "dark", styles: { variables: { "--color-text-primary": "rgb(1, 2, 3)" } } },
  });
  assert.deepEqual((await seen()).slice(0, 2), ["dark", "dark"]);
  await opened();
  assert.equal(await run(`getComputedStyle(document.body).color`), "rgb(1, 2, 3)");
  await host(() => window.host.frames[0].post({ method: "ui/notifications/host-context-changed", params: { theme: "light", styles: { variables: { "--color-text-primary": "rgb(4, 5, 6)" } } } }));
  await settled();
  assert.equal((await seen()).at(-1), "light");
  assert.deepEqual(await run(`[document.documentElement.dataset.theme, getComputedStyle(document.body).color, throughline.theme]`), ["light", "rgb(4, 5, 6)", "light"]);
  await tab.close();
});

test("buttons that a narrow frame puts into several lines do not touch each other, and those in a row keep its gap", options, async () => {
  const buttons = ["One of them", "Another", "A third one", "The last one"].map((name) => `<button>${name}</button>`).join(" ");
  const { opened, run, tab } = await show({ html: `${buttons} <div class="row">${buttons}</div>` });
  await tab.setViewportSize({ width: 320, height: 480 });
  await opened();
  const gaps = await run(`["#applet", ".row"].map((holder) => {
    const boxes = [...document.querySelectorAll(holder + " > button")].map((button) => button.getBoundingClientRect());
    return Math.min(...boxes.flatMap(({ top }) => boxes.filter(({ bottom }) => bottom <= top).map(({ bottom }) => top - bottom)));
  })`);
  assert.ok(gaps[0] >= 4, `between buttons in a text: ${gaps[0]} px`);
  assert.equal(gaps[1], 8);
  await tab.close();
});

test("errors reach the page, at most twenty of them", options, async () => {
  const { opened, run, errors, settled, tab } = await show(`setTimeout(() => { throw new Error("one"); }); Promise.reject(new Error("two")); throughline.onState(() => { throw new Error("three"); }); new Image().src = "https://example.com/x.png";`);
  await opened();
  await settled();
  const messages = (await errors()).map(({ message }) => message).sort();
  assert.deepEqual(messages, ["applets have no network: img-src refused https://example.com/x.png", "one", "three", "two"]);
  await run(`for (let n = 0; n < 100; n += 1) { setTimeout(() => { throw new Error("again"); }); }`);
  await settled();
  assert.equal((await errors()).length, 20);
  await tab.close();
});

test("what waits is written when the page takes the applet away", options, async () => {
  const { opened, host, tab } = await show(`throughline.onClose(() => throughline.setState({ last: "word" }));`);
  await opened();
  assert.deepEqual(await host(() => window.host.frames[0].ask("t1", "ui/resource-teardown")), {});
  assert.deepEqual(await host(() => window.host.frames[0].store.state), { last: "word" });
  await tab.close();
});

test("files are read and written, and refusals have their code", options, async () => {
  const { opened, run, tab } = await show("", { files: { "a.txt": { content: "text", hash: "h7" } }, tools: { git_status: { error: "not_granted", message: "the person did not allow it" } } });
  await opened();
  const code = (js) => run(`${js}.then((answer) => answer, (error) => [error.code, error.message])`);
  assert.equal((await code(`throughline.files.read("a.txt")`)).content, "text");
  assert.deepEqual(await code(`throughline.files.read("b.txt")`), ["not_found", "there is no file b.txt"]);
  assert.equal((await code(`throughline.files.write("a.txt", "other", "h6")`))[0], "conflict");
  assert.equal((await code(`throughline.files.write("a.txt", "other", "h7")`)).hash, "h7+");
  assert.deepEqual(await code(`throughline.git.status()`), ["not_granted", "the person did not allow it"]);
  await tab.close();
});

test("links to applets and to the web go to the page, others nowhere", options, async () => {
  const html = `<a id="one" href="?applet=git-diff&path=a b.rs">1</a><a id="two" href="https://example.com/x">2</a><a id="three" href="http://example.com/">3</a><a id="four" href="#five">4</a><a id="six" href="javascript:seen.push('ran')">6</a>`;
  const { opened, run, calls, seen, tab, settled } = await show({ html });
  await opened();
  for (const id of ["one", "two", "three", "four", "six"]) {
    await run(`document.getElementById("${id}").click()`);
  }
  await settled();
  assert.deepEqual(await calls("throughline/open-applet"), [{ applet: "git-diff", params: { path: "a b.rs" } }]);
  assert.deepEqual(await calls("ui/open-link"), [{ url: "https://example.com/x" }]);
  assert.deepEqual(await seen(), []);
  await tab.close();
});

test("a form's submit event comes although the sandbox has no forms", options, async () => {
  const html = `
    <form id="a"><input id="text" required><button name="go" value="1">Go</button><button type="button" id="other">x</button></form>
    <form id="b"><input id="alone"></form>
    <dialog id="d"><form method="dialog"><button id="close" value="yes">Close</button></form></dialog>`;
  const { opened, frame, run, seen, tab } = await show({ html, js: `document.addEventListener("submit", (event) => seen.push([event.target.id, event.submitter?.value ?? null, Object.fromEntries(new FormData(event.target))]));` });
  await opened();
  await frame.locator("#other").click();
  await frame.getByRole("button", { name: "Go" }).click();
  assert.deepEqual(await seen(), [], "what is required is missing");
  await frame.locator("#text").fill("x");
  await frame.locator("#text").press("Enter");
  await frame.getByRole("button", { name: "Go" }).click();
  await frame.locator("#alone").press("Enter");
  await run(`document.getElementById("b").requestSubmit()`);
  assert.deepEqual(await seen(), [["a", "1", {}], ["a", "1", {}], ["b", null, {}], ["b", null, {}]]);
  await run(`document.getElementById("d").showModal()`);
  await frame.locator("#close").click();
  assert.deepEqual(await run(`[document.getElementById("d").open, document.getElementById("d").returnValue]`), [false, "yes"]);
  await tab.close();
});

test("handlers within the html find what was exposed", options, async () => {
  const { frame, seen, tab } = await show({ html: `<button onclick="greet('you')">Greet</button>`, js: `function greet(whom) { seen.push(whom); } expose(greet);` });
  await frame.getByRole("button").click();
  assert.deepEqual(await seen(), ["you"]);
  await tab.close();
});

test("messages of others than the page are not heard", options, async () => {
  const { opened, run, seen, tab, settled } = await show(stateSeen, {});
  await opened();
  await settled();
  const before = (await seen()).length;
  await run(`window.postMessage({ jsonrpc: "2.0", method: "throughline/state", params: { state: { forged: true }, version: 99 } }, "*")`);
  await run(`window.dispatchEvent(new MessageEvent("message", { source: parent, data: { jsonrpc: "2.0", method: "throughline/state", params: { state: { forged: true }, version: 99 } } }))`);
  await settled();
  assert.equal((await seen()).length, before);
  await tab.close();
});

test("a page that does not answer fails what waits, and does not hang it for good", options, async () => {
  const { run, tab } = await show("", { silent: true });
  await run(`void throughline.setParams({ a: 1 }).catch(() => {})`);
  assert.deepEqual(await run(`throughline.params`), { a: "1" });
  assert.equal(await run(`(async () => { const calls = Array.from({ length: 600 }, () => throughline.plan().catch((error) => error.code)); return Promise.race(calls); })()`), "busy");
  await tab.close();
});

test("the example of the guide works", options, async () => {
  const guide = await readFile(new URL("../howto.md", import.meta.url), "utf8");
  const [html, js] = ["html", "js"].map((language) => guide.split(`\`\`\`${language}\n`)[1].split("```")[0]);
  const { opened, frame, host, errors, settled, tab } = await show({ html, js });
  await opened();
  await frame.getByLabel("What to buy").fill("Bread");
  await frame.getByLabel("What to buy").press("Enter");
  await frame.getByLabel("Bread").check();
  await settled();
  assert.deepEqual(await host(() => window.host.frames[0].store.state), { items: [{ text: "Bread", done: true }] });
  assert.deepEqual(await errors(), []);
  await tab.close();
});

test("outside of Throughline it says so instead of waiting", options, async () => {
  const tab = await browser.newPage();
  await tab.goto(`${stage.origin}${await stage.frame({ js: `throughline.plan().catch((error) => { document.getElementById("applet").textContent = error.code; });` })}`);
  await tab.getByText("alone").waitFor();
  await tab.close();
});
