// What another session is called, and whether it is still there, for whatever leads to it.
//
// Invariant: a row that was heard of says both. The server is asked only about a session that no row tells of, once.
import { useEffect, useState } from "react";

import { useAppState, useHttp } from "../../app/AppContext";
import { isDeleted } from "../../state/sessionList";
import { titleOf } from "../../state/words";
import type { SessionId } from "../../wire/names";

export interface OtherSession {
  /** Null until it is known. */
  readonly title: string | null;
  /** It was deleted: nothing leads there. */
  readonly gone: boolean;
}

export function useOtherSession(session: SessionId | null): OtherSession {
  const http = useHttp();
  const row = useAppState((state) => (session === null ? undefined : state.list.rows.get(session)));
  const [told, setTold] = useState<OtherSession & { session: SessionId | null }>({ session: null, title: null, gone: false });
  const unknown = row === undefined;
  useEffect(() => {
    if (session === null || !unknown) {
      return undefined;
    }
    let left = false;
    void http.readSession(session).then((answer) => {
      if (left) {
        return;
      }
      if (answer.ok) {
        setTold({ session, title: titleOf(answer.value), gone: isDeleted(answer.value) });
      } else if (answer.failure.kind === "refused" && answer.failure.status === 404) {
        setTold({ session, title: null, gone: true });
      }
    });
    return () => {
      left = true;
    };
  }, [http, session, unknown]);
  if (row !== undefined) {
    return { title: titleOf(row), gone: isDeleted(row) };
  }
  return told.session === session ? told : { title: null, gone: false };
}
