// The sessions that are read as one: the open one, and above it those that were gone on from or asked for.
//
// Invariant: all of them are followed for as long as they are shown. Going on to another session of the thread shows the
// one before until there is something to show of it, so that nothing flickers.
import { useCallback, useEffect, useRef, useState } from "react";

import { failureWords } from "../../api/http";
import { useApp, useAppState } from "../../app/AppContext";
import type { Link } from "../../state/chain";
import { aboveNext, isGone, isRead, sessionBefore } from "../../state/chain";
import type { Followed } from "../../state/followed";
import type { SessionId } from "../../wire/names";
import { useFollowedSessions } from "./liveWords";
import type { Before } from "./SessionHead";

export interface OpenChain {
  /** The session that is shown as the open one. */
  readonly open: Link;
  /** Those above it, oldest first. */
  readonly above: readonly Link[];
  readonly before: Before;
}

/** Nothing is open until there is something to show. */
export function useChain(session: SessionId): Omit<OpenChain, "open"> & { open: Link | null } {
  const app = useApp();
  const followed = useFollowedSessions();
  const [shown, setShown] = useState<{ session: SessionId; above: readonly SessionId[] }>({ session, above: [] });
  if (shown.session !== session && isRead(followed.get(session))) {
    setShown({ session, above: aboveNext(shown.above, shown.session, session) });
  }
  const gone = useAppState((state) => shown.above.filter((each) => isGone(each, state)).join()).split(",");
  useFollowing([...shown.above, shown.session, session]);

  // One that is gone stays followed, so that it is known to be.
  const sessions = [...shown.above.filter((each) => !gone.includes(each)), shown.session];
  const links = sessions.flatMap((each): Link[] => {
    const known = followed.get(each);
    return isRead(known) ? [{ session: each, followed: known }] : [];
  });
  const open = links.at(-1);
  const next = useAppState((state) => sessionBefore(sessions, state));
  const show = useCallback(() => {
    setShown((now) => {
      const known = app.store.getState();
      const before = sessionBefore([...now.above.filter((each) => !isGone(each, known)), now.session], known);
      return before === null ? now : { ...now, above: [before, ...now.above] };
    });
  }, [app]);
  return {
    open: open?.session === shown.session ? open : null,
    above: links.slice(0, -1),
    before: next !== null ? { kind: "more", show } : beforeOf(followed.get(shown.above[0] ?? shown.session)),
  };
}

function beforeOf(top: Followed | undefined): Before {
  switch (top?.reading.kind) {
    case "loading":
      return { kind: "reading" };
    case "refused":
      return { kind: "failed", words: failureWords({ kind: "refused", status: 0, ...top.reading.error }) };
    case "deleted":
      return { kind: "failed", words: "The session before was deleted." };
    default:
      return { kind: "none" };
  }
}

/** Follows these sessions, and each no longer than it is among them. */
function useFollowing(sessions: readonly SessionId[]): void {
  const app = useApp();
  const held = useRef(new Set<SessionId>());
  const wanted = [...new Set(sessions)].join();
  useEffect(() => {
    const now = new Set(wanted.split(","));
    for (const session of held.current) {
      if (!now.has(session)) {
        held.current.delete(session);
        app.unfollow(session);
      }
    }
    for (const session of now) {
      if (!held.current.has(session)) {
        held.current.add(session);
        app.follow(session);
      }
    }
  }, [app, wanted]);
  useEffect(() => {
    const { current } = held;
    return () => {
      for (const session of current) {
        app.unfollow(session);
      }
      current.clear();
    };
  }, [app]);
}
