// An applet's document and what is known of it, read when it is opened, reloaded or changed.
//
// Invariant: what was loaded stays until its successor is there, so that a frame is never taken away for one that can not come.
import { useCallback, useEffect, useState } from "react";

import type { Failure } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { Applet, AppletTicket } from "../../wire/applets";
import type { OutputId, SessionId } from "../../wire/names";

export interface Loaded {
  readonly ticket: AppletTicket;
  /** Null for one that can not be read, or that is shown as it was and is not there any more. */
  readonly about: Applet | null;
  /** Why today's can not be read: its state, say, was edited into none. */
  readonly trouble: Failure | null;
}

/**
 * `hashNow` is what the server said last of its content: if that is another one, it is read again. `isUnreadable` is whether it said
 * that the state can not be read: once it can, so can the name and all else that comes with it.
 */
export function useLoaded(session: SessionId, applet: string, output: OutputId | null, hashNow: string | null, isUnreadable: boolean) {
  const http = useHttp();
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [round, setRound] = useState(0);
  /** The content that the person knows of. */
  const [known, setKnown] = useState<string | null>(null);
  useEffect(() => {
    let wanted = true;
    void Promise.all([http.appletTicket(session, applet, output), http.applet(session, applet)]).then(([ticket, about]) => {
      if (!wanted) {
        return;
      }
      setFailure(ticket.ok ? null : ticket.failure);
      if (ticket.ok) {
        setKnown((before) => before ?? ticket.value.hash);
        setLoaded({ ticket: ticket.value, about: about.ok ? about.value : null, trouble: about.ok || output !== null ? null : about.failure });
      }
    });
    return () => {
      wanted = false;
    };
  }, [http, session, applet, output, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const hash = loaded?.ticket.hash ?? null;
  const [heard, setHeard] = useState<string | null>(null);
  if ((hash !== null || failure !== null) && heard !== hashNow) {
    setHeard(hashNow);
    if (hashNow !== null && hashNow !== hash) {
      reload();
    }
  }
  const [wasUnreadable, setWasUnreadable] = useState(isUnreadable);
  if (wasUnreadable !== isUnreadable) {
    setWasUnreadable(isUnreadable);
    // One whose name is known stays as it is: its frame may hold what nobody saved.
    if (!isUnreadable && (loaded === null || loaded.about === null)) {
      reload();
    }
  }
  return { loaded, failure, reload, isChanged: hash !== known, dismiss: () => setKnown(hash) };
}
