// What the page does for an applet that asks through the bridge.
//
// Invariant: files and prompts need the person's grant, and a page elsewhere is opened by the person's own press alone.
import type { App } from "../../state/app";
import type { Followed } from "../../state/followed";
import { runningTurn, turnCount } from "../../state/followed";
import { titleOf } from "../../state/words";
import type { AppletParams, SendingApplet } from "../../wire/applets";
import type { SessionRow } from "../../wire/names";
import { newestPlan } from "../side/PlanTab";
import type { AppletAddress } from "./address";
import { appletAt, isParam, searchOf } from "./address";
import type { Asks } from "./asks";
import type { BridgeHost } from "./bridge";
import { Pace } from "./bridge";
import type { Grants } from "./grants";
import { Refusal, refusalOf } from "./refusal";
import type { StateQueue } from "./stateQueue";
import { callTool } from "./tools";
import { carryUnsent, mayBeOfState, settleUnsent } from "./unsentState";

export interface HostParts {
  readonly app: App;
  readonly row: SessionRow;
  readonly applet: string;
  readonly hash: string;
  readonly past: boolean;
  readonly asks: Asks;
  readonly grants: Grants;
  /** Of its state. */
  readonly queue: StateQueue;
  /** As things are when it is asked for. */
  now(): { followed: Followed; address: AppletAddress; writable: boolean };
  go(address: AppletAddress, how: "push" | "replace"): void;
  onError(error: AppletFailure): void;
  onSent(text: string): void;
}

export interface AppletFailure {
  readonly message: string;
  readonly stack: string;
}

const MOST_MESSAGE_CHARACTERS = 32 * 1024;
/** Each is a turn of the agent. */
const MOST_MESSAGES_A_SECOND = 1;
const MOST_MOVES_A_SECOND = 10;
const MOST_PARAMS = 20;
const MOST_PARAM_CHARACTERS = 2_000;

export function appletHost(parts: HostParts): Omit<BridgeHost, "context" | "ready" | "flooded"> {
  const { app, row, applet, hash, past, grants, queue } = parts;
  const moves = new Pace(MOST_MOVES_A_SECOND);
  const messages = new Pace(MOST_MESSAGES_A_SECOND);
  const move = (address: AppletAddress, how: "push" | "replace") => {
    if (!moves.take()) {
      throw new Refusal("busy", "too many moves at once");
    }
    parts.go(address, how);
  };
  return {
    callTool: (name, args) =>
      callTool(
        {
          http: app.http,
          session: row.id,
          applet,
          hash,
          past,
          need: async (grant) => {
            await grants.need(grant);
          },
          needAnew: async (grant) => {
            grants.forget();
            await grants.need(grant);
          },
          forget: () => grants.forget(),
          state: () => queue.shown,
          writeState: (write) => queue.write(write),
          standing: () => standingOf(row, parts.now().followed),
        },
        name,
        args,
      ),
    async message(text) {
      if (past || !parts.now().writable) {
        throw new Refusal("read_only", "nothing can be sent to the agent from here");
      }
      if (text.length > MOST_MESSAGE_CHARACTERS) {
        throw new Refusal("too_large", `a message has at most ${MOST_MESSAGE_CHARACTERS} characters`);
      }
      if (!messages.take()) {
        throw new Refusal("busy", "one message a second");
      }
      const granted = await grants.need("message", text);
      await sendPrompt(app, row, text, { applet, hash });
      if (granted === "granted_before") {
        parts.onSent(text);
      }
    },
    async openLink(url) {
      if (!(await parts.asks.ask({ kind: "link", url: safeLink(url) }))) {
        throw new Refusal("not_granted", "the person did not open it");
      }
    },
    openApplet(wanted, params) {
      const to = { applet: wanted, params: paramsOf(params), past: null };
      if (appletAt(searchOf(to)) === null) {
        throw new Refusal("bad_arguments", "this is no slug of an applet");
      }
      move(to, "push");
    },
    setParams(params, history) {
      move({ ...parts.now().address, params: paramsOf(params) }, history);
    },
    failed: ({ message, stack }) => parts.onError({ message: withoutAddress(message), stack: withoutAddress(stack) }),
  };
}

/** The address of its document means nothing to anybody, nor does a line there. */
function withoutAddress(text: string): string {
  return text.replaceAll(/https?:\/\/[^\s()]+\/applet-frame\/[0-9a-f]+(?::\d+)*/g, "content.html");
}

async function sendPrompt({ http }: App, row: SessionRow, text: string, applet: SendingApplet): Promise<void> {
  const key = crypto.randomUUID();
  const appletState = carryUnsent(row.id, key);
  const prompt = { text, whenBusy: "queue" as const, applet, key };
  let answer = await http.sendPrompt(row.id, { ...prompt, ...(appletState && { appletState }) });
  if (!answer.ok && appletState !== null && mayBeOfState(answer.failure)) {
    // The same key: the server keeps nothing of what it refused. If the prompt itself was to blame it is refused again.
    answer = await http.sendPrompt(row.id, prompt);
  }
  settleUnsent(key, answer.ok);
  if (!answer.ok) {
    throw refusalOf(answer.failure);
  }
}

function standingOf(row: SessionRow, followed: Followed) {
  return { title: titleOf(row), running: runningTurn(followed.transcript) !== null, turns: turnCount(followed), plan: newestPlan(followed)?.steps ?? [] };
}

/** Whole, as it will be opened. */
export function safeLink(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || parsed.protocol !== "https:" || parsed.username !== "" || parsed.password !== "" || parsed.href.length > 8 * 1024) {
    throw new Refusal("bad_arguments", "a link begins with https:// and holds no password");
  }
  return parsed.href;
}

export function paramsOf(given: Readonly<Record<string, unknown>>): AppletParams {
  const params = Object.entries(given);
  const isGood = ([name, value]: [string, unknown]) => isParam(name) && typeof value === "string" && !/[\n\r]/.test(name + value) && name.length + value.length <= MOST_PARAM_CHARACTERS;
  if (params.length > MOST_PARAMS || !params.every(isGood)) {
    throw new Refusal("bad_arguments", `params are at most ${MOST_PARAMS}, each a name and a text of one line`);
  }
  return Object.fromEntries(params) as AppletParams;
}
