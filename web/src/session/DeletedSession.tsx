// A session that was deleted, and the way to bring it back.
import { useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useApp, useAppState } from "../app/AppContext";
import { titleOf } from "../state/words";
import { Alert } from "../ui/Alert";
import { Button, buttonClass } from "../ui/Button";
import { Link } from "../ui/Link";
import { Notice } from "../ui/Notice";
import type { SessionId } from "../wire/names";

export function DeletedSession({ session }: { session: SessionId }) {
  const app = useApp();
  const [failure, setFailure] = useState<Failure | null>(null);
  const row = useAppState((state) => state.list.rows.get(session));
  const restore = async () => {
    const answer = await app.http.restoreSession(session);
    setFailure(answer.ok ? null : answer.failure);
    if (answer.ok) {
      app.follow(session);
    }
  };
  return (
    <Notice title={row ? `“${titleOf(row)}” was deleted` : "This session was deleted"}>
      <p>It can be brought back for seven days.</p>
      {failure !== null && <Alert className="mt-4">{failureWords(failure)}</Alert>}
      <div className="mt-6 flex gap-2">
        <Button look="primary" onClick={() => void restore()}>
          Restore it
        </Button>
        <Link href="/" className={buttonClass("plain")}>
          All sessions
        </Link>
      </div>
    </Notice>
  );
}
