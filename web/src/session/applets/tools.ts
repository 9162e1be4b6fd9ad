// What an applet can call: its state, files of the session, what git says, and what the session is at.
//
// Invariant: whatever reads or writes files waits for the person's grant first. Nothing here reaches beyond what the server gives this
// person for this session.
import type { AskingApplet } from "../../api/applets";
import type { Answer, Http } from "../../api/http";
import type { AppletGrant, JsonObject, NewAppletState } from "../../wire/applets";
import type { PlanStep, SessionId } from "../../wire/names";
import { Refusal, refusalOf } from "./refusal";

export interface ToolHost {
  readonly http: Http;
  readonly session: SessionId;
  readonly applet: string;
  /** What names the content that the frame holds. */
  readonly hash: string;
  /** It is shown as it was: it changes nothing. */
  readonly past: boolean;
  /** Resolves once the person has granted it; a `Refusal` if they do not. */
  need(grant: AppletGrant): Promise<void>;
  /** The same, as the server knows it at this moment: for what the server does not check by itself. */
  needAnew(grant: AppletGrant): Promise<void>;
  /** The server granted less than was known. */
  forget(): void;
  state(): { state: JsonObject; version: number };
  writeState(write: NewAppletState): Promise<number>;
  standing(): { title: string; running: boolean; turns: number; plan: readonly PlanStep[] };
}

type Args = Readonly<Record<string, unknown>>;
type Tool = (host: ToolHost, args: Args) => Promise<object> | object;

const TOOLS: Readonly<Record<string, Tool>> = {
  applet_state_get: (host) => host.state(),
  applet_state_set: setState,
  applet_list: listApplets,
  read_file: readFile,
  write_file: writeFile,
  list_directory: listDirectory,
  git_status: gitStatus,
  git_diff: gitDiff,
  session_plan: sessionPlan,
};

export async function callTool(host: ToolHost, name: string, args: Args): Promise<object> {
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (tool === undefined) {
    throw new Refusal("unknown_tool", `unknown tool: ${name.slice(0, 100)}`);
  }
  return tool(host, args);
}

async function setState(host: ToolHost, { state, merge, version }: Args): Promise<object> {
  writes(host);
  const change = isObject(state) && merge === undefined ? { state } : isObject(merge) && state === undefined ? { merge } : null;
  if (change === null || (version !== undefined && typeof version !== "number")) {
    throw new Refusal("bad_arguments", "give state or merge, an object, and maybe the version that is expected");
  }
  // Between two versions stands what is not written yet.
  return { version: await host.writeState({ ...change, ...(version !== undefined && { version: Math.floor(version) }) }) };
}

async function listApplets({ http }: ToolHost): Promise<object> {
  return { applets: valueOf(await http.applets()) };
}

async function readFile(host: ToolHost, args: Args): Promise<object> {
  const path = textOf(args, "path");
  await host.need("files.read");
  const { content, encoding, bytes, cut, hash, path: whole } = grantedOf(host, await host.http.readAppletFile(asking(host), path));
  return { path: whole, content, encoding, bytes, cut, hash };
}

async function writeFile(host: ToolHost, args: Args): Promise<object> {
  writes(host);
  const [path, text, expected] = [textOf(args, "path"), textOf(args, "content"), maybeText(args, "hash")];
  await host.need("files.write");
  return grantedOf(host, await host.http.writeAppletFile(asking(host), { path, text, expected }));
}

async function listDirectory(host: ToolHost, args: Args): Promise<object> {
  const [path, after] = [maybeText(args, "path"), maybeText(args, "after")];
  await host.need("files.read");
  return grantedOf(host, await host.http.listAppletFiles(asking(host), path, after));
}

async function gitStatus(host: ToolHost): Promise<object> {
  await host.needAnew("files.read");
  return valueOf(await host.http.changes(host.session, { since: "git" }));
}

async function gitDiff(host: ToolHost, args: Args): Promise<object> {
  const path = textOf(args, "path");
  const { after } = args;
  await host.needAnew("files.read");
  return valueOf(await host.http.fileDiff(host.session, path, { since: "git" }, typeof after === "number" ? after : 0));
}

async function sessionPlan(host: ToolHost): Promise<object> {
  const { plan, ...standing } = host.standing();
  const { blocks } = valueOf(await host.http.nextSteps(host.session, null));
  const offers = blocks.filter(({ state }) => state === "open").map(({ id, label }) => ({ block: id, title: label }));
  return { ...standing, plan: plan.map(({ text, priority, status }) => ({ content: text, priority, status })), offers };
}

function writes({ past }: ToolHost): void {
  if (past) {
    throw new Refusal("read_only", "this applet is shown as it was in a turn that is past: it changes nothing here");
  }
}

function asking({ session, applet, hash }: ToolHost): AskingApplet {
  return { session, applet, content: hash };
}

/** Of what the server checks by itself: a grant that it refuses was taken back elsewhere, and the next call asks for it. */
function grantedOf<T>(host: ToolHost, answer: Answer<T>): T {
  if (!answer.ok && answer.failure.kind === "refused" && answer.failure.code === "not_granted") {
    host.forget();
  }
  return valueOf(answer);
}

function valueOf<T>(answer: Answer<T>): T {
  if (!answer.ok) {
    throw refusalOf(answer.failure);
  }
  return answer.value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(args: Args, name: string): string {
  const text = args[name];
  if (typeof text !== "string") {
    throw new Refusal("bad_arguments", `${name} is a text`);
  }
  return text;
}

function maybeText(args: Args, name: string): string | null {
  const text = args[name];
  return text === undefined || text === null ? null : textOf(args, name);
}
