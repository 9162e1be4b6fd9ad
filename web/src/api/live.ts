// The WebSocket to the server: one connection, kept up for as long as the page is open, with many follows.
//
// Invariant: a listener gets each entry of a followed session once and in order, from where the server said that the
// follow begins. After a broken connection every follow goes on from the last entry that was passed on; what comes twice is dropped by its seq, and a gap is never
// passed over but asked for again.
import type { AppletParams, NewAppletState } from "../wire/applets";
import type { ClientFrame, ErrorDetail, Request, ServerFrame, SessionId } from "../wire/names";
import type { Answer } from "./http";
import { LiveRequests } from "./liveRequests";

export type Connection =
  /** Not yet up since the page was opened. */
  | { kind: "starting" }
  | { kind: "live" }
  /** It broke, or could not be made, and is being tried again. */
  | { kind: "lost"; lastHeardAt: number | null }
  | { kind: "signed_out" };

export interface LiveListener {
  frame(frame: ServerFrame): void;
  connection(connection: Connection): void;
  /** A session cannot be followed; it is not asked for again. */
  refused(session: SessionId, error: ErrorDetail): void;
}

export interface LiveOptions {
  url: string;
  proof(): string | null;
  /** Asked when a connection ends before it was greeted, as a browser does not say why an upgrade failed. */
  isSignedOut(): Promise<boolean>;
}

/** A session is followed from so many turns before its end; earlier ones are read when they are wanted. */
const NEWEST_TURNS = 30;

/** A follow's place in its session. */
interface Place {
  cursor: string | null;
  seq: number;
  /** The id of the frame that asked for what follows, until that begins; what comes before is of an earlier follow. */
  asked: string | null;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 8_000;
const WATCH_EVERY_MS = 10_000;
/** A follow hears something every 15 s; this long a silence is worth a question … */
const PING_AFTER_MS = 25_000;
/** … and this long a silence is a dead connection, whatever the browser believes. */
const DEAD_AFTER_MS = 45_000;
/** The server closes so when the credential of an open connection is revoked. */
const SIGNED_OUT_CODE = 4003;

export class LiveClient {
  readonly #options: LiveOptions;
  readonly #listener: LiveListener;
  readonly #places = new Map<SessionId, Place>();
  /** The applet that is open in each session; it is opened anew with each connection. */
  readonly #applets = new Map<SessionId, { applet: string; params: AppletParams }>();
  readonly #requests = new LiveRequests();
  #socket: WebSocket | null = null;
  #greeted = false;
  #attempt = 0;
  #lastHeardAt: number | null = null;
  #lastId = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;

  constructor(options: LiveOptions, listener: LiveListener) {
    this.#options = options;
    this.#listener = listener;
  }

  start(): void {
    window.addEventListener("online", this.#wake);
    document.addEventListener("visibilitychange", this.#wake);
    this.#watch = setInterval(() => {
      this.#listenForSilence();
    }, WATCH_EVERY_MS);
    this.#connect();
  }

  stop(): void {
    window.removeEventListener("online", this.#wake);
    document.removeEventListener("visibilitychange", this.#wake);
    clearInterval(this.#watch);
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#letGo()?.close();
  }

  /** Everything of a session after `after`, or its newest turns if that is null, and what comes. */
  follow(session: SessionId, after: string | null): void {
    this.#places.set(session, { cursor: after, seq: after === null ? 0 : seqOf(after), asked: null });
    this.#askFor(session);
  }

  unfollow(session: SessionId): void {
    if (this.#places.delete(session)) {
      this.#send({ type: "unfollow", session });
    }
  }

  /** Follows the state and the content of an applet; another one takes its place. */
  openApplet(session: SessionId, applet: string, params: AppletParams): void {
    this.#applets.set(session, { applet, params });
    this.#send({ type: "applet_open", session, applet, params });
  }

  closeApplet(session: SessionId): void {
    if (this.#applets.delete(session)) {
      this.#send({ type: "applet_close", session });
    }
  }

  /** The answer holds the version, if the server says it. */
  writeAppletState(session: SessionId, applet: string, write: NewAppletState): Promise<Answer<unknown>> {
    return this.#requests.answerTo(this.#send({ type: "applet_state", session, applet, ...write } as Request));
  }

  #connect(): void {
    const proof = this.#options.proof();
    if (proof === null) {
      this.#signOut();
      return;
    }
    const socket = new WebSocket(this.#options.url);
    this.#socket = socket;
    this.#greeted = false;
    socket.onopen = () => {
      const auth: ClientFrame = { type: "auth", id: "0", proof };
      socket.send(JSON.stringify(auth));
    };
    socket.onmessage = (event: MessageEvent<unknown>) => {
      this.#hear(event.data);
    };
    socket.onclose = (event) => {
      void this.#lose(event.code);
    };
  }

  #hear(data: unknown): void {
    this.#lastHeardAt = Date.now();
    let frame: ServerFrame;
    try {
      frame = JSON.parse(String(data)) as ServerFrame;
    } catch {
      // Not something this server says: whatever is at the other end, a new connection is the only remedy.
      void this.#lose();
      return;
    }
    this.#take(frame);
  }

  #take(frame: ServerFrame): void {
    switch (frame.type) {
      case "hello":
        this.#greeted = true;
        this.#attempt = 0;
        this.#listener.connection({ kind: "live" });
        this.#listener.frame(frame);
        for (const session of this.#places.keys()) {
          this.#askFor(session);
        }
        for (const [session, open] of this.#applets) {
          this.#send({ type: "applet_open", session, ...open });
        }
        return;
      case "session": {
        const place = this.#places.get(frame.session);
        if (place) {
          place.asked = null;
          if (frame.window) {
            place.cursor = frame.window.after;
            place.seq = seqOf(frame.window.after);
          }
          this.#listener.frame(frame);
        }
        return;
      }
      case "entry":
      case "large_entry": {
        const place = this.#places.get(frame.session);
        const { seq } = frame.type === "entry" ? frame.entry : frame;
        if (!place || seq <= place.seq) {
          return;
        }
        if (seq > place.seq + 1) {
          this.#askAgain(frame.session, place);
          return;
        }
        place.seq = seq;
        place.cursor = frame.cursor;
        this.#listener.frame(frame);
        return;
      }
      case "entries":
        for (const entry of frame.entries) {
          this.#take({ type: "entry", session: frame.session, cursor: cursorAt(frame.cursor, entry.seq), entry });
        }
        return;
      case "caught_up":
      case "progress": {
        const place = this.#places.get(frame.session);
        if (!place) {
          return;
        }
        if (seqOf(frame.type === "caught_up" ? frame.cursor : frame.upTo) > place.seq) {
          this.#askAgain(frame.session, place);
          return;
        }
        this.#listener.frame(frame);
        return;
      }
      case "reset": {
        const place = this.#places.get(frame.session);
        if (!place) {
          return;
        }
        this.#listener.frame(frame);
        if (frame.reason === "deleted") {
          this.#places.delete(frame.session);
        } else {
          place.cursor = null;
          place.seq = 0;
          this.#askFor(frame.session);
        }
        return;
      }
      case "preview":
      case "output_preview":
      case "unsent":
      case "session.context":
        if (this.#places.has(frame.session)) {
          this.#listener.frame(frame);
        }
        return;
      case "applet_state":
      case "applet_state_unreadable":
      case "applet_changed":
        // What comes after it was closed, or another was opened, is of no more interest.
        if (this.#applets.get(frame.session)?.applet === frame.applet) {
          this.#listener.frame(frame);
        }
        return;
      case "error": {
        if (frame.id && this.#requests.refuse(frame.id, frame.error)) {
          return;
        }
        // A follow that was reset has been asked for again; the refusal of the first asking is of no more interest.
        // Without an id it is a follow that broke off, or a frame of ours that could not be read.
        const session = frame.id ? this.#sessionAskedBy(frame.id) : (frame.session ?? null);
        if (session !== null && this.#places.has(session)) {
          this.#places.delete(session);
          this.#listener.refused(session, frame.error);
        }
        return;
      }
      case "ack":
        this.#requests.acknowledge(frame.id, frame.result);
        return;
      case "bye":
        // It is followed by the close, which starts the way back.
        return;
      case "list":
      case "row":
        this.#listener.frame(frame);
        return;
      default:
        // Only a newer server knows it.
        frame satisfies never;
    }
  }

  #askFor(session: SessionId): void {
    const place = this.#places.get(session);
    if (!place || !this.#greeted) {
      return;
    }
    const from = place.cursor === null ? { turns: NEWEST_TURNS } : { after: place.cursor };
    place.asked = this.#send({ type: "follow", session, ...from, batch: true });
  }

  #askAgain(session: SessionId, place: Place): void {
    if (place.asked === null) {
      this.#askFor(session);
    }
  }

  #sessionAskedBy(id: string): SessionId | null {
    for (const [session, place] of this.#places) {
      if (place.asked === id) {
        return session;
      }
    }
    return null;
  }

  /** Gives the frame's id, or null while there is no connection. */
  #send(request: Request): string | null {
    if (!this.#greeted || this.#socket === null) {
      return null;
    }
    this.#lastId += 1;
    const frame: ClientFrame = { ...request, id: String(this.#lastId) };
    this.#socket.send(JSON.stringify(frame));
    return frame.id;
  }

  async #lose(code?: number): Promise<void> {
    const socket = this.#letGo();
    if (socket === null) {
      return;
    }
    const doubtful = !this.#greeted || code === SIGNED_OUT_CODE;
    this.#greeted = false;
    socket.close();
    this.#listener.connection({ kind: "lost", lastHeardAt: this.#lastHeardAt });
    if (doubtful && (await this.#options.isSignedOut())) {
      this.#signOut();
      return;
    }
    this.#retry = setTimeout(this.#tryAgain, retryDelay(this.#attempt));
    this.#attempt += 1;
  }

  /** Stops listening to the socket, so that a late word of it is not taken for one of its successor's. */
  #letGo(): WebSocket | null {
    const socket = this.#socket;
    this.#socket = null;
    this.#requests.lose();
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
    }
    return socket;
  }

  /** The network or the reader is back: a connection that waits for its next try does not wait any longer. */
  readonly #wake = (): void => {
    if (this.#retry !== undefined && document.visibilityState === "visible") {
      this.#tryAgain();
    }
  };

  readonly #tryAgain = (): void => {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#connect();
  };

  #listenForSilence(): void {
    if (!this.#greeted || this.#lastHeardAt === null) {
      return;
    }
    const silentMs = Date.now() - this.#lastHeardAt;
    if (silentMs >= DEAD_AFTER_MS) {
      void this.#lose();
    } else if (silentMs >= PING_AFTER_MS) {
      this.#send({ type: "ping" });
    }
  }

  #signOut(): void {
    this.stop();
    this.#listener.connection({ kind: "signed_out" });
  }
}

/** Twice as long each time, up to a limit; by chance, so that the pages of one server do not come back all at once. */
function retryDelay(attempt: number): number {
  const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt);
  return longest * (0.5 + Math.random() / 2);
}

/** The entry that a cursor, `incarnation.seq`, names. */
export function seqOf(cursor: string): number {
  return Number(cursor.slice(cursor.lastIndexOf(".") + 1));
}

/** The cursor of another entry of the same store. */
function cursorAt(cursor: string, seq: number): string {
  return `${cursor.slice(0, cursor.lastIndexOf(".") + 1)}${seq}`;
}
