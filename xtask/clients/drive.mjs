// Reads from its input what clients.rs has made, and tries the table on the mount in every way that a client has.
import assert from "node:assert/strict";
import { text as readAll } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { badCalls, checkList, textOf } from "./checks.mjs";
import { checkPrompts, checkResources } from "./skills.mjs";
import { SHOW_TOOLS, TOOLS } from "./tools.mjs";

/** How the client is told which revision to speak; with a pin it falls back to none other. */
const NEGOTIATION = { "2025-11-25": "legacy", "2026-07-28": { pin: "2026-07-28" } };

const world = JSON.parse(await readAll(process.stdin));

const headers = { authorization: `Bearer ${world.token}`, "content-type": "application/json" };

async function api(path) {
  const answer = await fetch(`${world.origin}/api/v1${path}`, { headers });
  assert.equal(answer.status, 200, path);
  return answer.json();
}

async function post(path, content) {
  const answer = await fetch(`${world.origin}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(content) });
  assert.equal(answer.status, 202, path);
}

/** The server writes these by itself, whenever it gets to it. */
const OF_ITS_OWN = ["summary.set", "title.set"];

/** The newest entry of a session that somebody caused. */
async function newest(session) {
  const { entries } = await api(`/sessions/${session.id}/entries?limit=1000`);
  return entries.findLast(({ type }) => !OF_ITS_OWN.includes(type)).seq;
}

/** Waits until an agent has said this: until then its turn adds entries. */
async function said(session, words) {
  for (let tries = 0; tries < 100; tries++) {
    const { entries } = await api(`/sessions/${session.id}/entries?limit=1000`);
    if (entries.some((entry) => JSON.stringify(entry).includes(words))) return;
    await setTimeout(100);
  }
  assert.fail(`the agent has not said ${words}`);
}

function transportOf({ transport, session }) {
  if (transport === "stdio") {
    const args = ["mcp", "--data-dir", world.data, "--session", session.id];
    return new StdioClientTransport({ command: world.binary, args, stderr: "inherit" });
  }
  return overHttp(session.token);
}

function overHttp(token, mount = "/mcp") {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return new StreamableHTTPClientTransport(new URL(`${world.origin}${mount}`), { requestInit });
}

async function connected(t, revision, transport) {
  const options = { versionNegotiation: { mode: NEGOTIATION[revision] } };
  const client = new Client({ name: "throughline-clients", version: "1" }, options);
  t.after(() => client.close());
  await client.connect(transport);
  return client;
}

/** A part of a row, which may be a function of the scene. */
const given = (part, scene) => (typeof part === "function" ? part(scene) : part);

/** Makes a call and holds its answer against what is expected. */
async function call(client, tool, expected, scene) {
  const [args, says, fails] = [given(expected.with, scene), given(expected.says, scene), expected.fails ?? false];
  const what = `${tool} ${JSON.stringify(args)}`;
  const told = textOf(await client.callTool({ name: tool, arguments: args }), { what, fails });
  if (typeof says === "string") {
    assert.equal(told, says, what);
    return told;
  }
  for (const part of says) {
    const found = part instanceof RegExp ? part.test(told) : told.includes(part);
    assert.ok(found, `${what} does not say ${part}: ${told}`);
  }
  return told;
}

/** Makes all calls of the table, good and bad. */
async function tryTools(t, client, tools, rows, scene) {
  const { session } = scene;
  for (const row of rows) {
    const tool = tools.find(({ name }) => name === row.name);
    const reads = row.annotations.readOnlyHint;
    await t.test(row.name, async () => {
      const before = await newest(session);
      for (const bad of badCalls(tool, given(row.works, scene), row.numbers)) await call(client, row.name, bad, scene);
      assert.equal(await newest(session), before, "what is refused changes nothing");
      for (const expected of row.calls) {
        const told = await call(client, row.name, expected, scene);
        if (reads) assert.equal(await call(client, row.name, expected, scene), told, "the same is told again");
      }
      if (reads) assert.equal(await newest(session), before, "a reader changes nothing");
      await row.after?.(scene);
    });
  }
}

for (const way of world.ways) {
  const { session } = way;
  const scene = { world, way, session, api };
  await test(`${way.transport}, ${way.revision}`, async (t) => {
    const client = await connected(t, way.revision, transportOf(way));
    assert.equal(client.getNegotiatedProtocolVersion(), way.revision);
    assert.equal(client.getServerVersion().name, "throughline");
    assert.ok(client.getInstructions().length > 0, "the brief is told");
    const { tools } = await client.listTools();

    await t.test("the tools are those of the table", () => checkList(tools, TOOLS));
    await tryTools(t, client, tools, TOOLS, scene);
    await t.test("resources and prompts", async () => {
      const before = await newest(session);
      await checkResources(client);
      await checkPrompts(client);
      assert.equal(await newest(session), before, "reading changes nothing");
    });
    await t.test("a tool that there is not", async () => {
      const names = TOOLS.map(({ name }) => name);
      const calling = client.callTool({ name: "no_such_tool", arguments: {} });
      const isRefused = ({ code, message }) => code === -32602 && ["no_such_tool", ...names].every((name) => message.includes(name));
      await assert.rejects(calling, isRefused);
    });
  });
}

for (const way of world.ways.filter(({ transport }) => transport === "http")) {
  const { session } = way;
  await test(`what shows something, ${way.revision}`, async (t) => {
    const client = await connected(t, way.revision, overHttp(session.token, "/mcp/show"));
    const { tools } = await client.listTools();
    await t.test("the tools are those of the table", () => checkList(tools, SHOW_TOOLS));
    await post(`/sessions/${session.id}/prompts`, { text: "slow 3600" });
    t.after(() => post(`/sessions/${session.id}/cancel`, {}));
    await said(session, "Taking 3600 s");
    await tryTools(t, client, tools, SHOW_TOOLS, { world, way, session, api });
  });
}

await test("without a credential there is nothing", async (t) => {
  const { session: mine } = world.ways[0];
  for (const revision of Object.keys(NEGOTIATION)) {
    await assert.rejects(connected(t, revision, overHttp("wrong")), ({ data }) => data?.status === 401);
  }
  const headers = { authorization: `Bearer ${mine.token}`, "content-type": "application/json" };
  const other = `${world.origin}/mcp?session=${world.stranger.id}`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.equal((await fetch(other, { method: "POST", headers, body })).status, 404, "another session's");
});
