// A long session, made faster than by talking: an export that `throughline restore` takes.
import { createHash, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";

export const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";

/** A session of so many turns, as `throughline export` would write it. */
export function longSession(turns, name) {
  return exportOf([{ id: SESSION, turns, name }]);
}

/** Several of them; those that are `tall` have answers of several screens. */
export function exportOf(sessions) {
  const begun = Date.parse("2026-01-02T03:04:05Z");
  const lines = [JSON.stringify({ throughline: "export", version: 1, madeAt: at(0), program: "0.1.0", incarnation: "00000000000000c1" })];
  function at(second) {
    return new Date(begun + second * 1000).toISOString();
  }
  for (const session of sessions) {
    addSession(lines, at, session);
  }
  const body = `${lines.join("\n")}\n`;
  const sha256 = createHash("sha256").update(body).digest("hex");
  return `${body}${JSON.stringify({ throughline: "end", entries: lines.length - 1, purged: 0, damaged: 0, sha256 })}\n`;
}

function addSession(lines, at, { id, turns, name, tall = false }) {
  let seq = 0;
  const add = (type, data) => {
    seq += 1;
    lines.push(JSON.stringify({ stream: `session/${id}`, seq, at: at(seq), version: 2, type, data }));
  };
  add("session.created", { agent: "guide", cwd: tmpdir(), project: tmpdir(), name });
  add("agent.state_changed", { state: "starting" });
  add("agent.state_changed", { state: "ready" });
  for (let turn = 1; turn <= turns; turn++) {
    const interactionId = randomUUID();
    add("turn.started", { turn, interactionId });
    add("prompt.sent", { interactionId, text: `Prompt ${turn}: what follows from this?` });
    add("text.part", { turn, block: 0, text: `## Answer ${turn}\n\nIt follows that **much** is so, and \`code\` too.\n\n` });
    if (tall) {
      add("text.part", { turn, block: 0, text: "And much more is to be said of it.\n\n".repeat(120) });
    }
    add("text.part", { turn, block: 0, text: turn % 2 === 0 ? "```ts\nconst a = 1;\n```\n" : "- one\n- two\n- three\n" });
    add("turn.ended", { turn, outcome: "completed" });
  }
  add("agent.state_changed", { state: "stopped", reason: "server_shutdown" });
}
