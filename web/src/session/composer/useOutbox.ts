// Sends what left the composer, one prompt after the other and in order, again and again until the server has answered.
//
// Invariant: what an applet could not write yet goes with a prompt only as long as the server takes both. A prompt that is refused with
// it goes again without it, so that no applet can stand in its way.
import { useEffect, useEffectEvent, useRef, useState } from "react";

import type { Failure } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { leavePlace } from "../../ui/place";
import type { SessionId } from "../../wire/names";
import { carryUnsent, mayBeOfState, settleUnsent } from "../applets/unsentState";
import type { Outgoing } from "./outbox";
import { forgetOutgoing, readOutbox, rememberOutgoing } from "./outbox";

/** How long to wait where the connection seems to be up and yet no answer came. */
const RESEND_AFTER_MS = 1_500;
/** A prompt that is kept sooner than this is not worth a word. */
const SLOW_MS = 800;

interface OutboxParts {
  session: SessionId;
  online: boolean;
  // Both may be those of an earlier rendering.
  onSent(): void;
  /** The server would not have the first of these; those after it have not been sent. */
  onRefused(returned: readonly Outgoing[], failure: Failure): void;
}

export interface Outbox {
  /** In order; the first is on its way. */
  readonly waiting: readonly Outgoing[];
  /** Whether to speak of them: no answer came, or it takes its time. */
  readonly trouble: "none" | "slow" | "held";
  put(outgoing: Outgoing): void;
  /** Empties it while nothing is on its way. */
  takeBack(): readonly Outgoing[];
}

export function useOutbox({ session, online, onSent, onRefused }: OutboxParts): Outbox {
  const http = useHttp();
  const [waiting, setWaiting] = useState<readonly Outgoing[]>(() => readOutbox(session).whole);
  // No answer came; an object for each time, for each begins a wait of its own.
  const [held, setHeld] = useState<{ atOnce: boolean } | null>(() => (waiting.length > 0 ? { atOnce: true } : null));
  const [slow, setSlow] = useState(false);
  const queue = useRef(waiting);
  const sending = useRef(false);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);

  const replace = (left: readonly Outgoing[]) => {
    queue.current = left;
    setWaiting(left);
  };

  /** What it carried waits on. */
  const forget = (key: string) => {
    settleUnsent(key, false);
    forgetOutgoing(session, key);
  };

  const pump = async () => {
    if (sending.current) {
      return;
    }
    sending.current = true;
    setHeld(null);
    for (let next = queue.current[0]; next !== undefined && alive.current; next = queue.current[0]) {
      const { text, key, pictures, appletState } = next;
      const images = pictures.map(({ mimeType, data }) => ({ mimeType, data }));
      const answer = await http.sendPrompt(session, { text, ...(images.length > 0 && { images }), whenBusy: "queue", key, ...(appletState && { appletState }) });
      if (answer.ok) {
        settleUnsent(key, true);
        forgetOutgoing(session, key);
        replace(queue.current.slice(1));
        if (alive.current) {
          onSent();
        }
      } else if (answer.failure.kind === "unreachable") {
        setHeld({ atOnce: false });
        break;
      } else if (appletState !== undefined && mayBeOfState(answer.failure)) {
        // The same key: the server keeps nothing of what it refused. If the prompt itself was to blame it is refused again.
        const bare = { text, key, pictures };
        rememberOutgoing(session, bare);
        replace(queue.current.map((each) => (each.key === key ? bare : each)));
      } else {
        const returned = queue.current;
        if (alive.current) {
          returned.forEach((outgoing) => forget(outgoing.key));
          replace([]);
          onRefused(returned, answer.failure);
        }
        break;
      }
    }
    sending.current = false;
  };

  const resume = useEffectEvent(() => void pump());
  const wasOffline = useRef(false);
  useEffect(() => {
    if (held === null || !online) {
      wasOffline.current = held !== null;
      return undefined;
    }
    const timer = setTimeout(() => resume(), held.atOnce || wasOffline.current ? 0 : RESEND_AFTER_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [held, online]);

  const first = waiting[0];
  useEffect(() => {
    if (first === undefined) {
      return undefined;
    }
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [first]);

  return {
    waiting,
    trouble: waiting.length === 0 ? "none" : held !== null ? "held" : slow ? "slow" : "none",
    put(given) {
      const appletState = carryUnsent(session, given.key);
      const outgoing = appletState === null ? given : { ...given, appletState };
      // A reload leads to what comes now, not to the turn that was read before.
      leavePlace();
      rememberOutgoing(session, outgoing);
      replace([...queue.current, outgoing]);
      if (held === null) {
        void pump();
      }
    },
    takeBack() {
      const returned = queue.current;
      returned.forEach(({ key }) => forget(key));
      setHeld(null);
      replace([]);
      return returned;
    },
  };
}
