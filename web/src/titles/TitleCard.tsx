// The titles that a session has had, newest first, each with the way to the turn that brought it; and the pin of the name
// that the person gave it.
import { useEffect, useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { Alert } from "../ui/Alert";
import { Icon } from "../ui/Icon";
import { Link } from "../ui/Link";
import { jumpToTurn } from "../ui/place";
import { inOneLine } from "../ui/shown";
import { ago, inFull, useNow } from "../ui/time";
import type { SessionRow, Title, TitleHistory } from "../wire/names";

const SHOWN_AT_FIRST = 5;

interface TitleCardProps {
  row: SessionRow;
  /** The name can be taken away here. */
  writable: boolean;
  /** The reader went to a turn. */
  onGone(): void;
}

export function TitleCard({ row, writable, onGone }: TitleCardProps) {
  const http = useHttp();
  const [history, setHistory] = useState<TitleHistory | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [all, setAll] = useState(false);
  const now = useNow();
  // Read when it is looked at, and again when what it tells of has changed.
  useEffect(() => {
    let wanted = true;
    void http.titleHistory(row.id).then((answer) => {
      if (wanted) {
        setFailure(answer.ok ? null : answer.failure);
        setHistory((before) => (answer.ok ? answer.value : before));
      }
    });
    return () => {
      wanted = false;
    };
  }, [http, row.id, row.title, row.meta.name, row.turns]);
  const unpin = async () => {
    const answer = await http.setPinnedTitle(row.id, null);
    setFailure(answer.ok ? null : answer.failure);
  };
  const titles = history?.titles ?? [];
  const pinned = pinnedName(row);
  const more = titles.length - SHOWN_AT_FIRST;
  return (
    <>
      {pinned !== null && (
        <div className="mb-1 flex items-center gap-2 border-b border-rule px-2.5 pt-1.5 pb-2 text-sm">
          <span className="shrink-0 text-soft [&>svg]:size-4">
            <Icon name="pin" />
          </span>
          <p className="min-w-0 flex-1 wrap-anywhere">
            <span className="text-soft">Your name, pinned: </span>
            <span dir="auto">{inOneLine(pinned)}</span>
          </p>
          {writable && (
            <button type="button" className="small-button" onClick={() => void unpin()}>
              Unpin
            </button>
          )}
        </div>
      )}
      <p className="px-2.5 pt-1 pb-1 text-xs font-medium text-soft">Titles, newest first</p>
      {failure !== null && <Alert className="mx-2.5 mb-2">{failureWords(failure)}</Alert>}
      {history === null && failure === null && (
        <p role="status" className="px-2.5 pb-2 text-sm text-soft">
          Reading…
        </p>
      )}
      {history !== null && titles.length === 0 && (
        <p className="px-2.5 pb-2 text-sm text-soft">None yet: a title comes with the first turns.</p>
      )}
      <ol>
        {(all ? titles : titles.slice(0, SHOWN_AT_FIRST)).map((title) => (
          <li key={`${title.changed_at} ${title.title}`}>
            <Earlier session={row.id} title={title} now={now} onGone={onGone} />
          </li>
        ))}
      </ol>
      {!all && more > 0 && (
        <button type="button" className="min-h-10 w-full rounded-lg px-2.5 text-left text-sm text-soft hover:bg-press hover:text-ink" onClick={() => setAll(true)}>
          +{more} more
        </button>
      )}
    </>
  );
}

function Earlier({ session, title, now, onGone }: { session: string; title: Title; now: number; onGone(): void }) {
  const turn = title.turn ?? null;
  const words = (
    <>
      <span className="min-w-0 flex-1 wrap-anywhere" dir="auto">
        {inOneLine(title.title)}
      </span>
      {turn !== null && <span className="shrink-0 text-xs text-soft tabular-nums">t{turn}</span>}
      <time className="w-14 shrink-0 text-right text-xs text-soft tabular-nums" dateTime={title.changed_at} title={inFull(title.changed_at)}>
        {ago(title.changed_at, now)}
      </time>
    </>
  );
  const look = "flex min-h-11 items-center gap-3 rounded-lg px-2.5 py-1 text-[0.9375rem] md:min-h-9";
  return turn === null ? (
    <div className={look}>{words}</div>
  ) : (
    <Link
      href={`/s/${session}#t${turn}`}
      className={`${look} -outline-offset-2 hover:bg-press`}
      onClick={() => {
        onGone();
        // An open session is told; another one finds the place in its address when it opens.
        if (location.pathname === `/s/${session}`) {
          jumpToTurn(turn);
        }
      }}
    >
      {words}
    </Link>
  );
}

/** The name that the person gave; while there is one, titles are only recorded. */
export function pinnedName(row: SessionRow): string | null {
  return row.meta.name ? row.meta.name : null;
}
