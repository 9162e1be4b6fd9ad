// The list of sessions: the left column, and on a phone the first page.
import { use, useRef, useState } from "react";

import { failureWords } from "../api/http";
import { useApp, useAppState } from "../app/AppContext";
import { ConnectionNotice, useFrame } from "../app/FrameContext";
import { attentionOf, attentionWords } from "../state/attention";
import { listedRows } from "../state/sessionList";
import { workOf } from "../state/works";
import { Alert } from "../ui/Alert";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { chordName, useKeyPresses } from "../ui/keyPresses";
import { Link } from "../ui/Link";
import { useNow } from "../ui/time";
import type { SessionId } from "../wire/names";
import { SessionRow } from "./SessionRow";
import { FirstSteps } from "./Welcome";
import { Wordmark } from "./Wordmark";

export function SessionListPage({ current }: { current: SessionId | null }) {
  const { show } = useFrame();
  const connectionNotice = use(ConnectionNotice);
  // Where a session is open, its header says it.
  const notice = current === null ? connectionNotice : null;
  const list = useAppState((state) => state.list);
  const works = useAppState((state) => state.works);
  const now = useNow();
  const element = useRef<HTMLElement>(null);
  const rows = listedRows(list);
  const { needYou, rest } = attentionWords(attentionOf(list));

  useKeyPresses({ j: () => focusRow(element.current, 1), k: () => focusRow(element.current, -1) });

  return (
    <nav
      ref={element}
      aria-label="Sessions"
      className="safe-top flex min-h-0 flex-1 flex-col"
      onKeyDown={(event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
          event.preventDefault();
          focusRow(element.current, event.key === "ArrowDown" ? 1 : -1);
        }
      }}
    >
      {current === null && rows.length > 0 && <h1 className="sr-only md:hidden">Sessions</h1>}
      <header className="flex items-center justify-between gap-2 py-3 pr-3 pl-4">
        <Link href="/" className="-m-1 rounded p-1" aria-label="Throughline, all sessions">
          <Wordmark />
        </Link>
        <Button onClick={() => show("new-session")} className="pl-3!">
          <Icon name="plus" />
          New session
        </Button>
      </header>
      <div className="px-3 pb-2">
        <button
          type="button"
          aria-keyshortcuts="Control+K Meta+K"
          className="flex min-h-11 w-full items-center gap-2 rounded-lg border border-rule bg-paper px-3 text-left text-[0.9375rem] text-soft hover:border-edge md:min-h-9"
          onClick={() => show("search")}
        >
          <span className="[&>svg]:size-4.5">
            <Icon name="search" />
          </span>
          <span className="flex-1">Search every session</span>
          <kbd aria-hidden="true" className="pointer-coarse:hidden">{chordName("K")}</kbd>
        </button>
      </div>

      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-4">
        {list.extent.kind === "unread" ? (
          <Placeholder />
        ) : rows.length === 0 ? (
          <>
            <p className="hidden px-2 py-3 text-[0.9375rem] text-soft md:block">No sessions yet.</p>
            <div className="px-3 pt-6 md:hidden">
              <FirstSteps />
            </div>
          </>
        ) : (
          <ul className="space-y-0.5">
            {rows.map((row) => (
              <li key={row.id}>
                <SessionRow row={row} work={workOf(works, row)?.name ?? null} current={row.id === current} now={now} />
              </li>
            ))}
          </ul>
        )}
        {list.extent.kind === "part" && <Older cursor={list.extent.nextCursor} />}
      </div>

      <footer className="safe-bottom flex min-h-14 items-center justify-between gap-2 border-t border-rule py-2 pr-3 pl-4 text-sm text-soft">
        <div role="status" className="min-w-0 text-[0.8125rem] text-ink">
          {notice}
        </div>
        {notice === null && (
          <p className="min-w-0 flex-1 text-[0.8125rem] leading-tight">
            {needYou !== null && <strong className="block font-semibold text-thread">{needYou}</strong>}
            {rest !== null && <span className="block">{rest}</span>}
          </p>
        )}
        <Button look="quiet" onClick={() => show("remembered")}>
          Permissions
        </Button>
        <IconButton label="Keyboard shortcuts" className="max-md:hidden" onClick={() => show("keys")}>
          <Icon name="keyboard" />
        </IconButton>
      </footer>
    </nav>
  );
}

/** Asks for the page after `cursor`. */
function Older({ cursor }: { cursor: string }) {
  const app = useApp();
  const [asking, setAsking] = useState(false);
  const [words, setWords] = useState<string | null>(null);
  const ask = async () => {
    setAsking(true);
    setWords(null);
    const answer = await app.http.sessionsAfter(cursor);
    setAsking(false);
    if (answer.ok) {
      app.takePage(answer.value);
    } else {
      setWords(failureWords(answer.failure));
    }
  };
  return (
    <div className="px-2 pt-3">
      {words !== null && <Alert className="mb-3">{words}</Alert>}
      <Button look="quiet" className="w-full" disabled={asking} onClick={() => void ask()}>
        {asking ? "Reading…" : "Older sessions"}
      </Button>
    </div>
  );
}

/** Where rows will be, before the first page has come. */
function Placeholder() {
  return (
    <div aria-busy="true">
      <p className="sr-only">Reading the sessions…</p>
      <ul aria-hidden="true" className="space-y-0.5">
        {[68, 44, 57, 36].map((width) => (
          <li key={width} className="px-3 py-3.5 pl-9">
            <div className="h-3.5 rounded bg-press" style={{ width: `${width}%` }} />
            <div className="mt-2.5 h-2.5 w-1/3 rounded bg-press" />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Moves the focus among the rows; from outside it begins at the current one, or at an end. */
function focusRow(nav: HTMLElement | null, step: 1 | -1): void {
  const links = [...(nav?.querySelectorAll<HTMLElement>("a[data-row]") ?? [])];
  const focused = links.findIndex((link) => link === document.activeElement);
  const current = links.findIndex((link) => link.getAttribute("aria-current") === "page");
  const from = focused >= 0 ? focused : current;
  const to = from >= 0 ? from + step : step === 1 ? 0 : links.length - 1;
  links[Math.min(Math.max(to, 0), links.length - 1)]?.focus();
}
