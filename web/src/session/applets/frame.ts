// The frame that an applet runs in: made, kept in step with the server, and taken away.
//
// Invariant: it has an opaque origin and scripts, and nothing else (`SANDBOX`); its document comes from a ticket, never with a
// credential of ours. Before it goes it is asked to send what it has left.
import type { App } from "../../state/app";
import type { JsonObject } from "../../wire/applets";
import type { SessionId } from "../../wire/names";
import type { BridgeHost, HostContext } from "./bridge";
import { Bridge } from "./bridge";
import { hostTheme, onThemeChange } from "./hostTheme";
import type { OpenQueue } from "./unsentState";

export const SANDBOX = "allow-scripts";
/** A state that nobody wrote has version 0, which a frame takes for none. */
const UNWRITTEN = 0.5;

export interface FrameOf {
  readonly app: App;
  readonly session: SessionId;
  readonly url: string;
  readonly about: HostContext["throughline"];
  /** Its state as it was read with its name. */
  readonly read: { readonly state: JsonObject; readonly version: number } | null;
  /** Of its state; left when the frame is gone, since it may write until then. */
  readonly writes: OpenQueue;
  /** All that the page does for it, but for its state and its looks. */
  readonly host: Omit<BridgeHost, "context" | "ready" | "flooded">;
}

export interface OpenFrame {
  setParams(params: HostContext["throughline"]["params"]): void;
  /** Takes it away, now or once it has sent what it has left. */
  leave(): void;
}

export function openFrame(container: HTMLElement, { app, session, url, about, read, writes, host }: FrameOf): OpenFrame {
  const { applet, past } = about;
  const { queue } = writes;
  let { params } = about;
  if (read !== null) {
    queue.heard(read.state, read.version);
  }
  const context = (): HostContext => ({ ...hostTheme(), displayMode: "inline", locale: navigator.language, throughline: { ...about, params } });
  const iframe = document.createElement("iframe");
  const bridge = new Bridge(() => iframe.contentWindow, {
    ...host,
    context,
    ready: () => sendState(),
    flooded() {
      iframe.remove();
      host.failed({ message: "It was stopped: it sent the page more than 10,000 messages in a second. Load it anew to go on.", stack: "" });
    },
  });
  const sendState = () => {
    const { state, version } = queue.shown;
    bridge.sendState(state, version || UNWRITTEN);
  };
  const nowOf = ({ applets }: ReturnType<App["store"]["getState"]>) => (past ? undefined : applets.get(session));
  const take = (now: ReturnType<typeof nowOf>) => {
    if (now?.applet === applet && now.version >= 0) {
      queue.heard(now.state, now.version);
      sendState();
    }
  };
  take(nowOf(app.store.getState()));
  const stopFollowing = app.store.subscribe((state, before) => {
    const now = nowOf(state);
    if (now !== nowOf(before)) {
      take(now);
    }
  });
  const stopTheme = onThemeChange(() => bridge.sendContext(hostTheme()));

  iframe.setAttribute("sandbox", SANDBOX);
  iframe.referrerPolicy = "no-referrer";
  iframe.title = about.title;
  iframe.className = "applet-frame";
  // So that the first paint knows the colours.
  iframe.name = JSON.stringify(context());
  iframe.src = url;
  container.append(iframe);

  return {
    setParams(next) {
      params = next;
      bridge.sendContext({ throughline: { params } });
    },
    leave() {
      stopFollowing();
      stopTheme();
      leave(iframe, bridge, () => writes.leave());
    },
  };
}

/** A frame that is moved runs on only where the browser can move it whole. */
function leave(iframe: HTMLIFrameElement, bridge: Bridge, onGone: () => void): void {
  if (document.activeElement === iframe) {
    iframe.closest<HTMLElement>("[data-own-keys]")?.focus({ preventScroll: true });
  }
  const remove = () => {
    bridge.close();
    iframe.remove();
    onGone();
  };
  const body: HTMLElement & { moveBefore?(node: Node, before: Node | null): void } = document.body;
  if (body.moveBefore === undefined || !iframe.isConnected) {
    remove();
    return;
  }
  iframe.hidden = true;
  body.moveBefore(iframe, null);
  void bridge.teardown().then(remove);
}
