// The state of applets that has not reached the server, in whichever session, whether or not its applet is open still.
//
// Invariant: there is one queue for each applet of a session, so that its writes keep their order also after it was closed and
// opened again. It is kept for as long as somebody uses it or something in it is unsent, and no longer.
import type { Failure } from "../../api/http";
import type { App } from "../../state/app";
import type { JsonObject, UnsentAppletState } from "../../wire/applets";
import type { SessionId } from "../../wire/names";
import { StateQueue } from "./stateQueue";

/** This page among those that write. */
const WRITER = crypto.randomUUID();
/** What the server says where it does not take what a prompt carries, or the prompt itself. */
const OF_THE_BODY: readonly number[] = [400, 404, 409, 413, 422];

interface Held {
  readonly queue: StateQueue;
  readonly session: SessionId;
  readonly applet: string;
  users: number;
  /** It does not hear of the connection any more, nor of the page being left. */
  stop(): void;
}

export interface OpenQueue {
  readonly queue: StateQueue;
  /** Once: nothing more will be written by whoever opened it. */
  leave(): void;
}

/** Opened last comes last. */
const queues = new Map<string, Held>();
/** By the key of the prompt that carries it. */
const carried = new Map<string, StateQueue>();

/** The queue of an applet, which stays at least until everybody who opened it has left. */
export function openQueue(app: App, session: SessionId, applet: string): OpenQueue {
  const key = keyOf(session, applet);
  const held = queues.get(key) ?? newQueue(app, session, applet);
  held.users += 1;
  queues.delete(key);
  queues.set(key, held);
  return {
    queue: held.queue,
    leave() {
      held.users -= 1;
      dropUnused();
    },
  };
}

/** A write of the page itself, in its place among those of the applet. */
export async function writeState(app: App, session: SessionId, applet: string, state: JsonObject): Promise<number> {
  const { queue, leave } = openQueue(app, session, applet);
  try {
    return await queue.write({ state });
  } finally {
    leave();
  }
}

function keyOf(session: SessionId, applet: string): string {
  return `${session} ${applet}`;
}

/** Also those that were left with something unsent, which went since. */
function dropUnused(): void {
  for (const [key, { queue, users, stop }] of queues) {
    if (users === 0 && queue.unsent === null) {
      stop();
      queues.delete(key);
    }
  }
}

function newQueue(app: App, session: SessionId, applet: string): Held {
  const queue = new StateQueue(async (write) => {
    const named = { ...write, writer: WRITER };
    const answer = await app.writeAppletState(session, applet, named);
    return answer.ok || answer.failure.kind !== "unreachable" ? answer : app.http.writeAppletState(session, applet, named);
  });
  const ignore = app.store.subscribe((state, before) => {
    if (state.connection !== before.connection && state.connection.kind === "live") {
      queue.retry();
    }
  });
  // It is in this tab alone: the browser asks before the page is left.
  const ask = (event: BeforeUnloadEvent) => {
    if (app.store.getState().connection.kind === "lost" && queue.unsent !== null) {
      event.preventDefault();
    }
  };
  addEventListener("beforeunload", ask);
  const stop = () => {
    ignore();
    removeEventListener("beforeunload", ask);
  };
  return { queue, session, applet, users: 0, stop };
}

/** What goes with this prompt, the applet's that was opened last; null where nothing waits. */
export function carryUnsent(session: SessionId, promptKey: string): UnsentAppletState | null {
  for (const { queue, session: of, applet } of [...queues.values()].reverse()) {
    const merge = of === session ? queue.carry() : null;
    if (merge !== null) {
      carried.set(promptKey, queue);
      return { applet, merge };
    }
  }
  return null;
}

/** What became of that prompt. */
export function settleUnsent(promptKey: string, arrived: boolean): void {
  carried.get(promptKey)?.settle(arrived);
  carried.delete(promptKey);
  dropUnused();
}

/** That the state of an applet is to blame can not be told by a status alone, nor that it is not. */
export function mayBeOfState(failure: Failure): boolean {
  return failure.kind === "refused" && (OF_THE_BODY.includes(failure.status) || failure.code.startsWith("applet"));
}
