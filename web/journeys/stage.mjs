// A server with the stage agent among its agents, and what the command line does there.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { api, comesToBe, startServer } from "./support.mjs";

const run = promisify(execFile);
const AGENT = fileURLToPath(new URL("stage-agent.mjs", import.meta.url));

/**
 * A fresh data directory, with `restored` put into it if it is given: an export's file. With `shared` one process of the
 * agent serves all sessions, so that each begins at once.
 */
export async function openStage({ restored, shared = false } = {}) {
  const dataDir = await mkdtemp(path.join(tmpdir(), "throughline-stage-"));
  const agent = (args) => `command = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([AGENT, ...args])}\n`;
  const command = async (...args) => (await run(process.env.THROUGHLINE_BIN, [...args, "--data-dir", dataDir])).stdout;
  if (restored !== undefined) {
    await command("restore", restored);
  }
  await writeFile(path.join(dataDir, "config.toml"), `[agents.stage]\nshared = ${shared}\n${agent([])}\n[agents.locked]\n${agent(["--signed-out"])}`);
  const server = await startServer({ dataDir, listen: "127.0.0.1:0" });
  return {
    server,
    dataDir,
    /** Begins a session and gives its id. */
    begin: async (agentName, cwd, name) => JSON.parse(await command("new", "--agent", agentName, "--cwd", cwd, "--name", name, "--json")).id,
    /** Sends a prompt, as from another window. */
    send: (session, text) => command("send", "--no-wait", session, text),
    /** Waits until so many restored turns have their lines, which their log gets at its end. */
    summedUp: (turns) => comesToBe(async () => (await api(server, dataDir, "/summaries")).caught_up >= turns, true),
    async end() {
      await server.end("SIGTERM");
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The composer of whatever agent. */
export function promptField(page) {
  return page.getByRole("textbox", { name: /^Prompt for / });
}

export async function sendTo(page, text) {
  await promptField(page).fill(text);
  await promptField(page).press("Enter");
}
