// A host of MCP Apps that we did not write shows applets of ours: a saved one from its resource, and whichever a tool shows in the page
// of that tool. What is clicked there is in the state here.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { build } from "vite";

import { saveApplet, stateOf } from "./applets.mjs";
import { api, comesToBe, open, PATIENCE_MS } from "./support.mjs";

const MIME_TYPE = "text/html;profile=mcp-app";
/** The standard's, for a document that declares no addresses. */
const DEFAULT_POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

/** Puts the document that the host sends into a frame, and passes messages on between the two. */
const PROXY = `<!doctype html><meta charset="utf-8"><style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100% }</style><script>
  let inner = null;
  addEventListener("message", ({ source, data }) => {
    if (source === parent && data.method === "ui/notifications/sandbox-resource-ready") {
      inner = document.createElement("iframe");
      inner.setAttribute("sandbox", data.params.sandbox ?? "allow-scripts allow-same-origin allow-forms");
      inner.srcdoc = data.params.html;
      document.body.append(inner);
    } else if (source === parent) {
      inner?.contentWindow.postMessage(data, "*");
    } else if (source === inner?.contentWindow) {
      parent.postMessage(data, "*");
    }
  });
  addEventListener("load", () => parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*"));
</script>`;

const TALLY = {
  name: "Tally",
  description: "Counts things.",
  html: '<button id="more">One more</button> <output id="count"></output> <output id="refused"></output>',
  js: `
    const count = () => throughline.state.count ?? 0;
    document.getElementById("more").onclick = () => throughline.setState({ count: count() + 1 });
    throughline.onState(() => { document.getElementById("count").textContent = count() + " in " + throughline.slug; });
    fetch(LISTENER).catch(() => {});
    new Image().src = LISTENER;
    throughline.files.read("a.txt").catch((error) => { document.getElementById("refused").textContent = error.code; });
  `,
};

/** Serves on a port of its own, which is an origin of its own. */
async function serve(test, answer) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

async function bundled() {
  const entry = fileURLToPath(new URL("mcp-apps-host.mjs", import.meta.url));
  const config = { configFile: false, publicDir: false, logLevel: "error", define: { "process.env.NODE_ENV": '"production"' } };
  const [{ output }] = await build({ ...config, build: { write: false, minify: false, lib: { entry, formats: ["es"], fileName: "host" } } });
  return output[0].code;
}

/** A host's page, connected to the tools that show something of a new session, and what it knows of them. */
async function openHost(test) {
  const opened = await open(test);
  const { server, browser, dataDir } = opened;
  const session = (await api(server, dataDir, "/sessions", { agent: "guide", cwd: tmpdir() })).id;
  const token = (await readFile(path.join(dataDir, "token"), "utf8")).trim();
  const client = new Client({ name: "a host of MCP Apps", version: "1" }, { capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [MIME_TYPE] } } } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp/show?session=${session}`), { requestInit }));
  test.after(() => client.close());
  const { tools } = await client.listTools();

  const script = await bundled();
  const host = await serve(test, (request, answer) => {
    answer.setHeader("content-type", request.url === "/host.js" ? "text/javascript" : "text/html");
    answer.end(request.url === "/host.js" ? script : '<!doctype html><title>Host</title><script type="module" src="/host.js"></script>');
  });
  const proxy = await serve(test, (_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.setHeader("content-security-policy", DEFAULT_POLICY);
    answer.end(PROXY);
  });

  // Not one of our pages: what those have to keep to is no concern of this one.
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const calls = [];
  await page.exposeFunction("callServer", async (params) => {
    calls.push(params.name);
    const tool = tools.find(({ name }) => name === params.name);
    assert.ok(tool?._meta.ui.visibility.includes("app"), `${params.name} is not for apps`);
    return client.callTool(params);
  });
  const show = async (given) => {
    await page.goto(host);
    await page.waitForFunction(() => window.show !== undefined);
    await page.evaluate((options) => window.show(options), { proxy, theme: "dark", ...given });
  };
  return { ...opened, session, client, tools, page, show, calls, frame: page.frameLocator("iframe").frameLocator("iframe") };
}

const text = ({ contents: [{ text }] }) => text;

test("a host of MCP Apps shows a saved applet from its resource, and its state is kept", async (t) => {
  const { server, dataDir, client, page, show, calls, frame } = await openHost(t);
  let hits = 0;
  const listener = await serve(t, (_, answer) => {
    hits += 1;
    answer.end();
  });
  const js = TALLY.js.replaceAll("LISTENER", JSON.stringify(listener));
  await saveApplet(server, dataDir, "tally", { ...TALLY, js });

  const { resources } = await client.listResources();
  const listed = resources.find(({ uri }) => uri === "ui://throughline/applet/tally");
  assert.deepEqual([listed.title, listed.description, listed.mimeType], ["Tally", "Counts things.", MIME_TYPE]);
  const read = await client.readResource({ uri: listed.uri });
  const { mimeType, _meta: meta } = read.contents[0];
  assert.deepEqual([mimeType, meta.ui], [MIME_TYPE, { csp: {}, permissions: {} }]);

  await show({ html: text(read) });
  await frame.getByText("0 in tally").waitFor();
  assert.equal(await frame.locator("html").getAttribute("data-theme"), "dark");
  await frame.getByText("unknown_tool").waitFor();
  await frame.getByRole("button", { name: "One more" }).click();
  await frame.getByRole("button", { name: "One more" }).click();
  await frame.getByText("2 in tally").waitFor();

  const handle = /handle&quot;:&quot;([\w.-]+)&quot;/.exec(text(read))[1];
  const stateOver = async () => (await client.callTool({ name: "applet_state_get", arguments: { handle } })).structuredContent.state;
  await comesToBe(stateOver, { count: 2 });
  // Somebody else writes; nothing tells the host, so the applet looks.
  await api(server, dataDir, "/storage/applet/tally/state", { merge: { count: 40 } });
  await frame.getByText("40 in tally").waitFor();
  await frame.getByRole("button", { name: "One more" }).click();
  assert.deepEqual(await page.evaluate(() => window.takeAway()), {});
  await comesToBe(stateOver, { count: 41 });

  const heard = await page.evaluate(() => window.heard);
  assert.ok(heard.sizes.length > 0 && heard.sizes.every(({ height }) => height > 0 && height < 1_000), JSON.stringify(heard.sizes));
  assert.equal(heard.app.name, "throughline-applet");
  assert.deepEqual([...new Set(calls)].sort(), ["applet_state_get", "applet_state_set"]);
  assert.ok(heard.logs.some(({ data }) => data.message.startsWith("applets have no network")), JSON.stringify(heard.logs));
  assert.equal(hits, 0, "an applet has no network there either");

  await show({ html: text(read) });
  await frame.getByText("41 in tally").waitFor();
});

test("a host of MCP Apps shows the applet that a tool shows, in the page of that tool", async (t) => {
  const { server, dataDir, client, tools, show, frame } = await openHost(t);
  const { _meta: meta } = tools.find(({ name }) => name === "load_applet");
  const shell = text(await client.readResource({ uri: meta.ui.resourceUri }));
  const input = { slug: "counter" };
  const result = await client.callTool({ name: "load_applet", arguments: input });
  assert.notEqual(result.isError, true);
  await show({ html: shell, input, result });
  await frame.locator("#count").filter({ hasText: "0" }).waitFor();
  await frame.getByRole("button", { name: "One more" }).click();
  await frame.locator("#count").filter({ hasText: "1" }).waitFor();
  await comesToBe(async () => (await stateOf(server, dataDir, "counter")).state, { count: 1 });

  // What went wrong is said in the page.
  const wrong = await client.callTool({ name: "load_applet", arguments: { slug: "no-such" } });
  await show({ html: shell, input: { slug: "no-such" }, result: wrong });
  await frame.getByText("there is no applet no-such").waitFor();
});
