// The page of one session: the session, or why there is nothing to show of it.
import type { ReactNode } from "react";
import { useEffect } from "react";

import { failureWords } from "../api/http";
import { useApp, useAppState } from "../app/AppContext";
import { isDeleted } from "../state/sessionList";
import { buttonClass } from "../ui/Button";
import { Link } from "../ui/Link";
import { Notice } from "../ui/Notice";
import type { ErrorDetail, SessionId } from "../wire/names";
import { DeletedSession } from "./DeletedSession";
import { LoadingSession } from "./LoadingSession";
import { OpenSession } from "./OpenSession";
import { useChain } from "./transcript/useChain";
import { UsageContext, useUsageBook } from "./used/UsageContext";
import { useKnownWork } from "./useKnownWork";
import { useObserving } from "./useObserving";

interface SessionPageProps {
  session: SessionId;
  /** It was begun just now, on this page. */
  fresh: boolean;
  /** Chooses another session or piece of work. */
  picker: ReactNode;
}

export function SessionPage({ session, fresh, picker }: SessionPageProps) {
  const app = useApp();
  const { open, above, before } = useChain(session);
  const reading = useAppState((state) => state.followed.get(session)?.reading);
  const work = useAppState((state) => state.followed.get(session)?.work?.id ?? null);
  const row = useAppState((state) => state.list.rows.get(session));
  const shownRow = useAppState((state) => (open === null ? undefined : state.list.rows.get(open.session)));
  const deleted = reading?.kind === "deleted";
  // Somebody may bring it back, here or elsewhere: then there is something to follow again.
  const restored = deleted && row !== undefined && !isDeleted(row);

  useEffect(() => {
    if (restored) {
      app.follow(session);
    }
  }, [app, session, restored]);
  useObserving(row, reading?.kind === "ready");
  useKnownWork(work);
  const usage = useUsageBook();

  if (reading?.kind === "refused") {
    return <Refused error={reading.error} />;
  }
  if (deleted && !restored) {
    return <DeletedSession session={session} />;
  }
  if (open === null || shownRow === undefined) {
    return <LoadingSession />;
  }
  const leaving = open.session !== session;
  return (
    <UsageContext value={usage}>
      <OpenSession row={shownRow} chain={{ open, above, before }} leaving={leaving} fresh={fresh && !leaving} picker={picker} />
    </UsageContext>
  );
}

function Refused({ error }: { error: ErrorDetail }) {
  // Nothing is known by this name, or not any more.
  const missing = error.code === "session_not_found" || error.code === "session_deleted";
  return (
    <Notice title={missing ? "There is no such session" : "This session cannot be shown"}>
      <p>{missing ? "It may have been deleted for good, or the address is not complete." : failureWords({ kind: "refused", status: 0, ...error })}</p>
      <Link href="/" className={`mt-6 ${buttonClass("plain")}`}>
        All sessions
      </Link>
    </Notice>
  );
}
