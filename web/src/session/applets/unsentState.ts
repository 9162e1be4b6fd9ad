// The state of applets that has not reached the server, in whichever session, whether or not its applet is open still.
//
// Invariant: there is one queue for each applet of a session, so that its writes keep their order also after it was closed and
// opened again.
import type { App } from "../../state/app";
import type { UnsentAppletState } from "../../wire/applets";
import type { SessionId } from "../../wire/names";
import { StateQueue } from "./stateQueue";

/** This page among those that write. */
const WRITER = crypto.randomUUID();

interface Held {
  readonly queue: StateQueue;
  readonly session: SessionId;
  readonly applet: string;
}

/** Opened last comes last. */
const queues = new Map<string, Held>();
/** By the key of the prompt that carries it. */
const carried = new Map<string, StateQueue>();

export function queueOf(app: App, session: SessionId, applet: string): StateQueue {
  const key = `${session} ${applet}`;
  const held = queues.get(key) ?? { queue: newQueue(app, session, applet), session, applet };
  queues.delete(key);
  queues.set(key, held);
  return held.queue;
}

function newQueue(app: App, session: SessionId, applet: string): StateQueue {
  const queue = new StateQueue(async (write) => {
    const named = { ...write, writer: WRITER };
    const answer = await app.writeAppletState(session, applet, named);
    return answer.ok || answer.failure.kind !== "unreachable" ? answer : app.http.writeAppletState(session, applet, named);
  });
  app.store.subscribe((state, before) => {
    if (state.connection !== before.connection && state.connection.kind === "live") {
      queue.retry();
    }
  });
  return queue;
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
}
