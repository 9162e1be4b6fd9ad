// The page's side of the bridge to an applet's frame: JSON-RPC 2.0 by `postMessage`, in the shapes of MCP Apps (2026-01-26).
//
// Invariant: a message counts only if it comes from the window of this very frame. What the frame can cost is bounded: the length of
// a message, the messages and the calls of a second, and the calls that wait. What a call does is up to the host; here nothing is granted.
import { JsonRpcFailure, troubleOf } from "./messages";
import { Refusal } from "./refusal";

export interface HostContext {
  readonly theme: "light" | "dark";
  readonly displayMode: "inline";
  readonly locale: string;
  readonly styles: { readonly variables: Readonly<Record<string, string>> };
  readonly throughline: {
    readonly applet: string;
    readonly title: string;
    readonly session: string;
    readonly params: Readonly<Record<string, string>>;
    readonly hash: string;
    readonly past: boolean;
  };
}

export interface ContextChange {
  readonly theme?: HostContext["theme"];
  readonly styles?: HostContext["styles"];
  readonly throughline?: { readonly params: HostContext["throughline"]["params"] };
}

/** What the bridge asks of the page; whatever is refused is a `Refusal`. */
export interface BridgeHost {
  context(): HostContext;
  /** The frame listens from now on. */
  ready(): void;
  callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<object>;
  message(text: string): Promise<void>;
  openLink(url: string): Promise<void>;
  openApplet(applet: string, params: Readonly<Record<string, unknown>>): void;
  setParams(params: Readonly<Record<string, unknown>>, history: "push" | "replace"): void;
  failed(error: { message: string; stack: string }): void;
  /** The frame is to be taken away; it is not heard any more. */
  flooded(): void;
}

export const PROTOCOL = "2026-01-26";
export const MOST_BYTES = 1024 * 1024;
export const MOST_WAITING = 100;
export const MOST_CALLS_A_SECOND = 20;
/** Many writes become one before they go out, so that many may come. */
export const MOST_WRITES_A_SECOND = 1_000;
/** What comes beyond them is not even read. */
export const MOST_MESSAGES_A_SECOND = 2_000;
/** Messages cost the page time whether they are read or not, so a frame that sends so many is stopped. */
export const FLOOD_A_SECOND = 10_000;
export const TEARDOWN_MS = 2_000;
const MOST_ERRORS = 50;
const TEARDOWN_ID = "teardown";

type Params = Readonly<Record<string, unknown>>;
type Method = (host: BridgeHost, params: Params) => Promise<object> | object;

const METHODS: Readonly<Record<string, Method>> = {
  "ui/initialize": initialize,
  "tools/call": callTool,
  "ui/message": message,
  "ui/open-link": openLink,
  "throughline/open-applet": openApplet,
  "throughline/params": setParams,
};

export class Bridge {
  readonly #frame: () => MessageEventSource | null;
  readonly #host: BridgeHost;
  #waiting = 0;
  #errors = 0;
  #isReady = false;
  /** It was told to go: what it has left to write is taken, and nothing else that it wants. */
  #isLeaving = false;
  #tornDown: (() => void) | null = null;
  readonly #messages = new Pace(MOST_MESSAGES_A_SECOND);
  readonly #flood = new Pace(FLOOD_A_SECOND);
  readonly #calls = new Pace(MOST_CALLS_A_SECOND);
  readonly #writes = new Pace(MOST_WRITES_A_SECOND);

  constructor(frame: () => MessageEventSource | null, host: BridgeHost) {
    this.#frame = frame;
    this.#host = host;
    window.addEventListener("message", this.#hear);
  }

  /** Only to a frame that listens: before that it asks for all of it. */
  sendState(state: object, version: number): void {
    if (this.#isReady) {
      this.#post({ method: "throughline/state", params: { state, version } });
    }
  }

  sendContext(change: ContextChange): void {
    if (this.#isReady) {
      this.#post({ method: "ui/notifications/host-context-changed", params: change });
    }
  }

  /** Lets the applet send what it has left; a frame that does not answer is not waited for. */
  teardown(): Promise<void> {
    this.#isLeaving = true;
    if (!this.#isReady) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const late = setTimeout(resolve, TEARDOWN_MS);
      this.#tornDown = () => {
        clearTimeout(late);
        resolve();
      };
      this.#post({ id: TEARDOWN_ID, method: "ui/resource-teardown", params: {} });
    });
  }

  close(): void {
    window.removeEventListener("message", this.#hear);
  }

  readonly #hear = (event: MessageEvent<unknown>): void => {
    const frame = this.#frame();
    // Every other sign of where a message is from can be forged, and a frame of opaque origin has none.
    if (frame === null || event.source !== frame) {
      return;
    }
    if (!this.#flood.take()) {
      this.close();
      this.#host.flooded();
      return;
    }
    if (!this.#messages.take()) {
      return;
    }
    const { data } = event;
    if (typeof data !== "object" || data === null || (data as Params)["jsonrpc"] !== "2.0") {
      return;
    }
    const { id, method, params } = data as { id?: unknown; method?: unknown; params?: unknown };
    const given = typeof params === "object" && params !== null && !Array.isArray(params) ? (params as Params) : {};
    if (typeof method !== "string") {
      if (id === TEARDOWN_ID) {
        this.#tornDown?.();
      }
    } else if (typeof id === "number" || typeof id === "string") {
      void this.#answer(id, method, given, troubleOf(data, MOST_BYTES));
    } else if (troubleOf(data, MOST_BYTES) === null) {
      this.#note(method, given);
    }
  };

  #note(method: string, params: Params): void {
    if (method === "ui/notifications/initialized" && !this.#isReady) {
      this.#isReady = true;
      this.#host.ready();
    } else if (method === "throughline/error" && this.#errors < MOST_ERRORS) {
      this.#errors += 1;
      this.#host.failed({ message: textOf(params["message"], 2_000) || "an error without words", stack: textOf(params["stack"], 4_000) });
    }
  }

  async #answer(id: number | string, method: string, params: Params, trouble: ReturnType<typeof troubleOf>): Promise<void> {
    this.#waiting += 1;
    try {
      const call = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
      if (call === undefined) {
        throw new JsonRpcFailure(-32601, `unknown method: ${textOf(method, 100)}`);
      }
      if (trouble !== null) {
        throw new Refusal(trouble, `a message is JSON of at most ${MOST_BYTES} bytes`);
      }
      const isWrite = method === "tools/call" && params["name"] === "applet_state_set";
      if (this.#isLeaving && !isWrite) {
        throw new Refusal("busy", "this applet is being closed");
      }
      if (this.#waiting > MOST_WAITING || !(isWrite ? this.#writes : this.#calls).take()) {
        throw new Refusal("busy", "too many calls at once; try again in a moment");
      }
      this.#post({ id, result: await call(this.#host, params) });
    } catch (error) {
      this.#post({ id, ...failureOf(error, method) });
    } finally {
      this.#waiting -= 1;
    }
  }

  #post(message: object): void {
    // The frame's origin is opaque: there is no other that it could be named by.
    this.#frame()?.postMessage({ jsonrpc: "2.0", ...message }, { targetOrigin: "*" });
  }
}

/** What a tool refuses is its result, as MCP has it. */
function failureOf(error: unknown, method: string): object {
  if (error instanceof JsonRpcFailure) {
    return { error: { code: error.code, message: error.message } };
  }
  const { message, data } = error instanceof Refusal ? error : new Refusal("bad_arguments", "this could not be done");
  return method === "tools/call"
    ? { result: { isError: true, content: [{ type: "text", text: message }], structuredContent: data } }
    : { error: { code: -32000, message, data } };
}

function initialize(host: BridgeHost): object {
  return { protocolVersion: PROTOCOL, hostInfo: { name: "Throughline", version: "1" }, hostCapabilities: { openLinks: {}, serverTools: {} }, hostContext: host.context() };
}

async function callTool(host: BridgeHost, { name, arguments: args }: Params): Promise<object> {
  if (typeof name !== "string" || (args !== undefined && (typeof args !== "object" || args === null))) {
    throw new Refusal("bad_arguments", "a call has a name and arguments");
  }
  const structuredContent = await host.callTool(name, (args ?? {}) as Params);
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

async function message(host: BridgeHost, { content }: Params): Promise<object> {
  const parts = Array.isArray(content) ? (content as unknown[]) : [];
  const text = parts.map((part) => (part as { text?: unknown } | null)?.text).filter((part) => typeof part === "string").join("\n");
  if (text.trim() === "") {
    throw new Refusal("bad_arguments", "a message has a text");
  }
  await host.message(text);
  return {};
}

async function openLink(host: BridgeHost, { url }: Params): Promise<object> {
  if (typeof url !== "string") {
    throw new Refusal("bad_arguments", "a link has a url");
  }
  await host.openLink(url);
  return {};
}

function openApplet(host: BridgeHost, { applet, params }: Params): object {
  if (typeof applet !== "string") {
    throw new Refusal("bad_arguments", "say which applet");
  }
  host.openApplet(applet, objectOf(params));
  return {};
}

function setParams(host: BridgeHost, { params, history }: Params): object {
  host.setParams(objectOf(params), history === "push" ? "push" : "replace");
  return {};
}

function objectOf(value: unknown): Params {
  return typeof value === "object" && value !== null ? (value as Params) : {};
}

function textOf(value: unknown, most: number): string {
  return typeof value === "string" ? value.slice(0, most) : "";
}

/** So many in any second. */
export class Pace {
  readonly #most: number;
  #from = -Infinity;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(): boolean {
    const now = performance.now();
    if (now - this.#from >= 1_000) {
      this.#from = now;
      this.#taken = 0;
    }
    this.#taken += 1;
    return this.#taken <= this.#most;
  }
}
