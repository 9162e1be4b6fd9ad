// Words that are not durable yet, apart from all else that is known of a session.
//
// Invariant: they come many times a second, and only what shows them is drawn for them: the newest turn, not the page.
import { useState } from "react";

import { useAppState } from "../../app/AppContext";
import type { AppState } from "../../state/app";
import type { Previews } from "../../state/followed";
import { isSameButPreviews, NOT_READ } from "../../state/followed";
import type { SessionId } from "../../wire/names";

/** The sessions that are read. Their `previews` may be old: what uses this is not drawn again for them. */
export function useFollowedSessions(): AppState["followed"] {
  const [pick] = useState(pickButPreviews);
  return useAppState(pick);
}

function pickButPreviews(): (state: AppState) => AppState["followed"] {
  let picked: AppState["followed"] | null = null;
  return ({ followed }) => {
    if (picked === null || !isSame(picked, followed)) {
      picked = followed;
    }
    return picked;
  };
}

function isSame(one: AppState["followed"], other: AppState["followed"]): boolean {
  return (
    one === other ||
    (one.size === other.size &&
      [...other].every(([session, followed]) => {
        const before = one.get(session);
        return before !== undefined && isSameButPreviews(before, followed);
      }))
  );
}

/** Those of a session; none for whoever does not show them. */
export function useLiveWords(session: SessionId, shown: boolean): Previews {
  return useAppState((state) => (shown ? state.followed.get(session)?.previews : undefined) ?? NOT_READ.previews);
}
