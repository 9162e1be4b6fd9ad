// The sessions that were deleted in the last seven days, each with the way back.
import { useEffect, useRef, useState } from "react";

import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { baseName } from "../state/context";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { counted } from "../ui/counted";
import { ago, inFull, useNow } from "../ui/time";
import type { DeletedSession } from "../wire/names";

export function DeletedList() {
  const http = useHttp();
  const now = useNow();
  const [rows, setRows] = useState<readonly DeletedSession[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const asking = useRef(false);
  const read = (after: string | null) => {
    // The same page once, however often it is asked for.
    if (asking.current) {
      return;
    }
    asking.current = true;
    void http.deletedSessions(after).then((answer) => {
      asking.current = false;
      setBusy(false);
      setFailure(answer.ok ? null : failureWords(answer.failure));
      if (answer.ok) {
        setRows((before) => [...(after === null ? [] : (before ?? [])), ...answer.value.sessions]);
        setCursor(answer.value.nextCursor ?? null);
      }
    });
  };
  useEffect(() => {
    read(null);
    // Once, when it is opened.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  const restore = async ({ id }: DeletedSession) => {
    const answer = await http.restoreSession(id);
    setFailure(answer.ok ? null : failureWords(answer.failure));
    if (answer.ok) {
      setRows((before) => before?.filter((row) => row.id !== id) ?? null);
    }
  };
  return (
    <div className="px-2.5">
      <p className="py-2 text-[0.8125rem] text-soft">Deleted sessions can be restored for seven days.</p>
      {failure !== null && <Alert className="mb-2">{failure}</Alert>}
      <p role="status" className="text-[0.9375rem] text-soft">
        {rows === null && failure === null ? "Reading…" : rows?.length === 0 ? "None." : ""}
      </p>
      <ul>
        {rows?.map((row) => (
          <li key={row.id} className="flex min-h-12 items-center gap-2 border-b border-rule py-1">
            <div className="min-w-0 flex-1 leading-snug">
              <p className="truncate" dir="auto">
                {row.title ?? "Untitled session"}
              </p>
              <p className="truncate text-[0.8125rem] text-soft">
                {row.agent} · {baseName(row.project)} · {counted(row.turns, "turn")} · <time dateTime={row.deletedAt} title={inFull(row.deletedAt)}>{ago(row.deletedAt, now)}</time>
              </p>
            </div>
            <Button className="min-h-9! px-3! text-sm!" aria-label={`Restore ${row.title ?? "Untitled session"}`} onClick={() => void restore(row)}>
              Restore
            </Button>
          </li>
        ))}
      </ul>
      {cursor !== null && (
        <Button
          look="quiet"
          className="mt-2 w-full"
          aria-disabled={busy}
          onClick={() => {
            setBusy(true);
            read(cursor);
          }}
        >
          {busy ? "Reading…" : "Older ones"}
        </Button>
      )}
    </div>
  );
}
