// All that the page shows, folded from what the server sends.
//
// Invariant: `applyFrames` is pure and the only way for news of the server to reach the screen. The page owns no facts:
// a wish goes out over HTTP, and what came of it comes back as frames like everybody else's news.
import type { StoreApi } from "zustand/vanilla";
import { createStore } from "zustand/vanilla";

import type { Answer, Failure, Http } from "../api/http";
import { failureWords } from "../api/http";
import type { Connection, LiveClient, LiveListener } from "../api/live";
import type { AppletParams, NewAppletState } from "../wire/applets";
import type { Entry, ErrorDetail, FrameOf, ServerFrame, SessionId, SessionPage } from "../wire/names";
import type { Work, WorkId } from "../wire/work";
import type { AppletsNow } from "./applets";
import { applyAppletFrame, withoutApplet } from "./applets";
import { cursorOf, takeToc } from "./contents";
import { contextOf } from "./context";
import type { EarlierPage } from "./earlier";
import { foldPage, missingPages, NOTHING_EARLIER, putPage, turnsOfPage } from "./earlier";
import type { Followed } from "./followed";
import { applyEntries, applyLarge, applyOutputPreview, applyPreview, beginFollow, caughtUp, firstFollowed, NOT_READ, refused, takeLarge } from "./followed";
import type { SessionList } from "./sessionList";
import { LIST_PAGE, putRow, removeRow, takeFirstPage, takePage, takeRows, UNREAD_LIST } from "./sessionList";
import type { Works } from "./works";
import { NO_WORKS, removeWork, takeFirstWorks, takeWorks } from "./works";

export interface AppState {
  readonly connection: Connection;
  readonly list: SessionList;
  readonly works: Works;
  /** What pieces of work are called as a group, as the server is told to call them. */
  readonly worksLabel: string;
  /** The sessions being read, and the last few that were. */
  readonly followed: ReadonlyMap<SessionId, Followed>;
  /** The applet that is open in a session. It changes many times a second: whoever draws picks what it needs of it. */
  readonly applets: AppletsNow;
}

/** What the page's parts are given: the state, and the two ways to the server. */
export interface App {
  readonly store: StoreApi<AppState>;
  readonly http: Http;
  follow(session: SessionId): void;
  unfollow(session: SessionId): void;
  /** The credential is not in force any more; only a new sign-in, which loads the page anew, ends this. */
  signOut(): void;
  /** The page of the list after this cursor, once it has been read. */
  takePage(page: SessionPage, after: string): void;
  /** A page of another list of sessions, once it has been read: of those that a filter met, or of archived ones. */
  takeFound(page: SessionPage): void;
  /** Pieces of work that were read. */
  takeWorks(works: readonly Work[]): void;
  /** Reads a page of a session's contents, unless it is there or on its way; gives what went wrong, if it did. */
  readToc(session: SessionId, page: number): Promise<Failure | null>;
  /** Reads an entry that was too long to come with the others. */
  readLarge(session: SessionId, seq: number): Promise<Answer<unknown>>;
  /** Reads these turns, as far as they are neither there nor on their way. */
  readTurns(session: SessionId, from: number, to: number): void;
  /** Follows an applet beside the session; another one of it takes its place. */
  openApplet(session: SessionId, applet: string, params: AppletParams): void;
  closeApplet(session: SessionId): void;
  /** Over the connection that stands; without one it is unreachable. */
  writeAppletState(session: SessionId, applet: string, write: NewAppletState): Promise<Answer<unknown>>;
}

export const INITIAL_STATE: AppState = { connection: { kind: "starting" }, list: UNREAD_LIST, works: NO_WORKS, worksLabel: "Specs", followed: new Map(), applets: new Map() };

/** How many sessions stay folded after they are left, so that going back and forth costs nothing. */
const KEPT_SESSIONS = 8;

/** So many frames are folded without waiting to be drawn: a tab in the background may draw nothing for hours. */
const MOST_WAITING = 2_000;

export interface AppParts {
  http: Http;
  openLive(listener: LiveListener): Pick<LiveClient, "follow" | "unfollow" | "openApplet" | "closeApplet" | "writeAppletState">;
  /** Runs `flush` soon, once: frames that come together are drawn together. */
  schedule(flush: () => void): void;
}

export function createApp({ http, openLive, schedule }: AppParts): App {
  const store = createStore<AppState>()(() => INITIAL_STATE);
  let waiting: ServerFrame[] = [];
  let scheduled = false;
  /** The generation of the list whose pages were asked for again. */
  let readAnew = 0;
  const fold = () => {
    const frames = waiting;
    waiting = [];
    store.setState((state) => applyFrames(state, frames), true);
    const { generation } = store.getState().list;
    if (generation !== readAnew) {
      readAnew = generation;
      void readListAnew(store, http, generation);
    }
  };
  const flush = () => {
    scheduled = false;
    fold();
  };
  const live = openLive({
    frame(frame) {
      waiting.push(frame);
      if (!scheduled) {
        scheduled = true;
        schedule(flush);
      } else if (waiting.length >= MOST_WAITING) {
        fold();
      }
    },
    connection(connection) {
      store.setState((state) => (state.connection.kind === "signed_out" ? state : { connection }));
    },
    refused(session, error) {
      // It comes after the frames that wait to be drawn.
      fold();
      store.setState((state) => refuse(state, session, error));
    },
  });
  const open = new Set<SessionId>();
  /** The pages of contents that are on their way. */
  const tocs = new Map<string, Promise<Failure | null>>();
  return {
    store,
    http,
    follow(session) {
      open.add(session);
      store.setState((state) => keep(state, session, open));
      live.follow(session, store.getState().followed.get(session)?.cursor ?? null);
    },
    unfollow(session) {
      open.delete(session);
      live.unfollow(session);
      // Whoever comes back begins at the end.
      store.setState((state) => changeFollowed(state, session, (followed) => ({ ...followed, earlier: NOTHING_EARLIER })));
    },
    signOut() {
      store.setState({ connection: { kind: "signed_out" } });
    },
    takePage(page, after) {
      store.setState((state) => ({ list: takePage(state.list, page, after), works: takeWorks(state.works, page.metaContexts) }));
    },
    takeFound(page) {
      store.setState((state) => ({ list: takeRows(state.list, page.sessions), works: takeWorks(state.works, page.metaContexts) }));
    },
    takeWorks(works) {
      store.setState((state) => ({ works: takeWorks(state.works, works) }));
    },
    readToc(session, page) {
      if (store.getState().followed.get(session)?.contents.read.has(page) === true) {
        return Promise.resolve(null);
      }
      const key = `${session} ${page}`;
      const reading = tocs.get(key) ?? readTocPage(store, http, session, page).finally(() => tocs.delete(key));
      tocs.set(key, reading);
      return reading;
    },
    async readLarge(session, seq) {
      const answer = await http.entry(session, seq);
      const entry = answer.ok ? answer.value.entries.at(0) : undefined;
      if (entry !== undefined) {
        store.setState((state) => changeFollowed(state, session, (followed) => takeLarge(followed, entry)));
      }
      return answer;
    },
    readTurns(session, from, to) {
      const followed = store.getState().followed.get(session);
      if (followed !== undefined) {
        const first = firstFollowed(followed);
        for (const page of missingPages(followed.earlier, from, to, first)) {
          void readPage(store, http, session, page, turnsOfPage(page, first));
        }
      }
    },
    openApplet(session, applet, params) {
      live.openApplet(session, applet, params);
    },
    closeApplet(session) {
      live.closeApplet(session);
      store.setState(({ applets }) => ({ applets: withoutApplet(applets, session) }));
    },
    writeAppletState: (session, applet, write) => live.writeAppletState(session, applet, write),
  };
}

/** Page by page, as far down as the list had been read before it began anew. What fails is read when somebody scrolls there. */
async function readListAnew(store: StoreApi<AppState>, http: Http, generation: number): Promise<void> {
  for (;;) {
    const { list } = store.getState();
    if (list.before === null || list.extent.kind !== "part" || list.generation !== generation) {
      return;
    }
    const { nextCursor } = list.extent;
    const answer = await http.sessionsAfter(nextCursor, LIST_PAGE);
    if (!answer.ok) {
      return;
    }
    const page = answer.value;
    store.setState((state) => (state.list.generation === generation ? { list: takePage(state.list, page, nextCursor), works: takeWorks(state.works, page.metaContexts) } : state));
  }
}

async function readTocPage(store: StoreApi<AppState>, http: Http, session: SessionId, page: number): Promise<Failure | null> {
  const answer = await http.toc(session, cursorOf(page));
  if (!answer.ok) {
    return answer.failure;
  }
  store.setState((state) => changeFollowed(state, session, (followed) => ({ ...followed, contents: takeToc(followed.contents, page, answer.value) })));
  return null;
}

/** What was forgotten or asked for anew meanwhile is not put in any more. */
async function readPage(store: StoreApi<AppState>, http: Http, session: SessionId, number: number, turns: { from: number; to: number }): Promise<void> {
  const loading: EarlierPage = { kind: "loading" };
  const change = (news: (followed: Followed) => Followed) => store.setState((state) => changeFollowed(state, session, news));
  const put = (page: EarlierPage) => (followed: Followed) => ({ ...followed, earlier: putPage(followed.earlier, number, page) });
  change(put(loading));
  const entries: Entry[] = [];
  let after: string | null = null;
  do {
    const answer = await http.entriesOfTurns(session, turns.from, turns.to, after);
    if (!answer.ok) {
      const words = failureWords(answer.failure);
      change((followed) => (followed.earlier.get(number) === loading ? put({ kind: "failed", words })(followed) : followed));
      return;
    }
    entries.push(...answer.value.entries);
    after = answer.value.nextCursor ?? null;
  } while (after !== null);
  const { page, answeredAt } = foldPage(entries);
  change((followed) =>
    followed.earlier.get(number) === loading
      ? {
          ...put(page)(followed),
          answeredAt: answeredAt.size === 0 ? followed.answeredAt : new Map([...answeredAt, ...followed.answeredAt]),
        }
      : followed,
  );
}

/** In order; entries of one session that follow one another are one step. */
export function applyFrames(state: AppState, frames: readonly ServerFrame[]): AppState {
  let run: FrameOf<"entry">[] = [];
  const endRun = (before: AppState): AppState => {
    const [first] = run;
    const entries = run;
    run = [];
    return first === undefined ? before : changeFollowed(before, first.session, (followed) => applyEntries(followed, entries));
  };
  for (const frame of frames) {
    if (frame.type === "entry" && (run[0] === undefined || run[0].session === frame.session)) {
      run.push(frame);
    } else {
      state = applyFrame(endRun(state), frame);
    }
  }
  return endRun(state);
}

function applyFrame(state: AppState, frame: ServerFrame): AppState {
  switch (frame.type) {
    case "hello":
      return { ...state, worksLabel: frame.specsLabel };
    case "list": {
      return frame.id === undefined || frame.id === null
        ? {
            ...state,
            list: takeFirstPage(state.list, frame, state.followed.keys()),
            works: takeFirstWorks(state.works, frame.metaContexts, worksOfFollowed(state)),
          }
        : // This page asks for no list here. Whose answer it is, its rows are known from now on.
          { ...state, list: takeRows(state.list, frame.sessions), works: takeWorks(state.works, frame.metaContexts) };
    }
    case "row": {
      const { work, removedWork } = frame;
      let { list } = state;
      if (frame.session) {
        list = putRow(list, frame.session);
      }
      if (frame.removed) {
        list = removeRow(list, frame.removed);
      }
      const after: AppState = { ...state, list: { ...list, unobservedCount: frame.unobservedCount, needsYouCount: frame.needsYouCount ?? 0 } };
      const known = work ? { ...after, works: takeWorks(after.works, [work]) } : after;
      return removedWork ? loseWork(known, removedWork) : known;
    }
    case "session": {
      const { snapshot } = frame;
      const known = { ...state, list: putRow(state.list, snapshot) };
      const gone = snapshot.metaContextId && !snapshot.metaContext ? loseWork(known, snapshot.metaContextId) : known;
      return changeFollowed(gone, frame.session, (followed) => beginFollow(followed, frame));
    }
    case "session.context":
      return changeFollowed(state, frame.session, (followed) => ({ ...followed, context: contextOf(frame) }));
    case "entry":
      return changeFollowed(state, frame.session, (followed) => applyEntries(followed, [frame]));
    case "large_entry":
      return changeFollowed(state, frame.session, (followed) => applyLarge(followed, frame));
    case "unsent":
      return changeFollowed(state, frame.session, (followed) => ({ ...followed, unsent: { text: frame.text, writer: frame.writer } }));
    case "preview":
      return changeFollowed(state, frame.session, (followed) => applyPreview(followed, frame));
    case "output_preview":
      return changeFollowed(state, frame.session, (followed) => applyOutputPreview(followed, frame));
    case "caught_up":
      return changeFollowed(state, frame.session, caughtUp);
    case "reset":
      return changeFollowed(state, frame.session, () =>
        frame.reason === "deleted" ? { ...NOT_READ, reading: { kind: "deleted" } } : NOT_READ,
      );
    case "applet_state":
    case "applet_state_unreadable":
    case "applet_changed":
      return { ...state, applets: applyAppletFrame(state.applets, frame) };
    case "entries":
    case "progress":
    case "ack":
    case "error":
    case "bye":
      // They concern the connection, which parts entries that come together, or features that this page does not show.
      return state;
    default:
      frame satisfies never;
      // Only a newer server knows it. What it told of a session is in that session's entries.
      return state;
  }
}

function worksOfFollowed(state: AppState): WorkId[] {
  return [...state.followed.values()].flatMap(({ work }) => (work === null ? [] : [work.id]));
}

/** Its sessions stay, and stand for themselves. */
function loseWork(state: AppState, id: WorkId): AppState {
  const lost = [...state.followed].filter(([, { work }]) => work?.id === id);
  const followed = lost.length === 0 ? state.followed : new Map([...state.followed, ...lost.map(([session, each]) => [session, { ...each, work: null }] as const)]);
  return { ...state, works: removeWork(state.works, id), followed };
}

function refuse(state: AppState, session: SessionId, error: ErrorDetail): AppState {
  return changeFollowed(state, session, (followed) => refused(followed, error));
}

function changeFollowed(state: AppState, session: SessionId, change: (followed: Followed) => Followed): AppState {
  const before = state.followed.get(session);
  if (before === undefined) {
    return state;
  }
  const after = change(before);
  return after === before ? state : { ...state, followed: new Map(state.followed).set(session, after) };
}

/** Makes room for a session, newest last, and lets go of the one left longest ago; never of one that is `open`. */
function keep(state: AppState, session: SessionId, open: ReadonlySet<SessionId>): AppState {
  const followed = new Map(state.followed);
  const known = followed.get(session);
  followed.delete(session);
  followed.set(session, known !== undefined && (known.reading.kind === "ready" || known.reading.kind === "loading") ? { ...known, context: null } : NOT_READ);
  for (const oldest of followed.keys()) {
    if (followed.size <= KEPT_SESSIONS) {
      break;
    }
    if (!open.has(oldest)) {
      followed.delete(oldest);
    }
  }
  return { ...state, followed };
}
