// The list of sessions: the left column, and on a phone the first page.
//
// Invariant: its keys and dialogs act only while it is shown, and only on rows that are selected or have the focus.
import { use, useCallback, useMemo, useRef, useState } from "react";

import { ACTIONS, useActions } from "../app/actions";
import { useAppState } from "../app/AppContext";
import type { BulkAction } from "../app/bulkActions";
import { ConnectionNotice, useFrame } from "../app/FrameContext";
import { attentionOf, attentionWords } from "../state/attention";
import { isArchived, isPinned } from "../state/sessionList";
import { TagDialog } from "../tags/TagDialog";
import { Alert } from "../ui/Alert";
import { Button, buttonClass, IconButton } from "../ui/Button";
import { useEscape } from "../ui/escape";
import { Icon } from "../ui/Icon";
import { chordName } from "../ui/keyPresses";
import { Link } from "../ui/Link";
import { NARROW, useMedia } from "../ui/media";
import { useNow } from "../ui/time";
import type { SessionId, SessionRow } from "../wire/names";
import type { WorkId } from "../wire/work";
import { DeletedList } from "./DeletedList";
import { linesOf } from "./lines";
import { ListTools } from "./ListTools";
import { SelectionBar } from "./SelectionBar";
import type { LinesHandle } from "./SessionLines";
import { SessionLines } from "./SessionLines";
import { useListRows } from "./useListRows";
import { useSelection } from "./useSelection";
import type { ListView } from "./view";
import { firstView, isFiltered } from "./view";
import { FirstSteps } from "./Welcome";
import { Wordmark } from "./Wordmark";

const NO_ROWS: readonly SessionRow[] = [];

interface SessionListPageProps {
  current: SessionId | null;
  /** False on a phone while something else is open. */
  shown: boolean;
  /** Whether there are any, archived ones included; null until it is known. */
  hasSessions: boolean | null;
}

export function SessionListPage({ current, shown, hasSessions }: SessionListPageProps) {
  const { show, run } = useFrame();
  const connectionNotice = use(ConnectionNotice);
  // Where a session is open, its header says it.
  const notice = current === null ? connectionNotice : null;
  const narrow = useMedia(NARROW);
  const works = useAppState((state) => state.works);
  const unseen = useAppState((state) => state.list.unobservedCount);
  const waiting = useAppState((state) => state.list.needsYouCount);
  const { needYou, rest } = attentionWords(attentionOf({ unobservedCount: unseen, needsYouCount: waiting }));
  const now = useNow();
  const nav = useRef<HTMLElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const handle = useRef<LinesHandle>(null);
  const [view, setView] = useState(firstView);
  const [open, setOpen] = useState<ReadonlySet<WorkId>>(new Set());
  const [focused, setFocused] = useState<SessionId | null>(null);
  const [tagged, setTagged] = useState<readonly SessionRow[] | null>(null);
  const list = useListRows(view);
  const { unread, reading, more, failure, readOn } = list;
  // Deleted ones are a list of their own, in which nothing is chosen.
  const rows = view.shelf === "deleted" ? NO_ROWS : list.rows;
  const folds = !isFiltered(view);
  const lines = useMemo(() => linesOf(rows, { grouping: view.grouping, works, open, folds, now }), [rows, view.grouping, works, open, folds, now]);
  const listed = useMemo(() => lines.flatMap((line) => (line.kind === "session" ? [line.row] : [])), [lines]);
  const selection = useSelection(listed);
  const onFold = useCallback((work: WorkId) => setOpen((before) => (before.has(work) ? new Set([...before].filter((other) => other !== work)) : new Set([...before, work]))), []);
  const changeView = (change: Partial<ListView>) => {
    if (change.shelf !== undefined && change.shelf !== view.shelf) {
      selection.end();
    }
    setView((before) => ({ ...before, ...change }));
  };
  const act = async (action: BulkAction, chosen: readonly SessionRow[]) => {
    const { failed } = await run(action, chosen);
    selection.settle(chosen.flatMap(({ id }) => (failed.includes(id) ? [] : [id])));
  };
  if (!shown && (tagged !== null || focused !== null)) {
    // A dialog in a part of the page that is not drawn would hold the whole page, and nobody would see it.
    setTagged(null);
    setFocused(null);
  }

  const withFocus = shown ? listed.filter((row) => row.id === focused) : NO_ROWS;
  const meant = shown && selection.rows.length > 0 ? selection.rows : withFocus;
  useActions({
    "next-row": shown && listed.length > 0 ? () => handle.current?.move(1) : undefined,
    "previous-row": shown && listed.length > 0 ? () => handle.current?.move(-1) : undefined,
    select: withFocus.length > 0 ? () => withFocus.forEach(({ id }) => selection.toggle(id)) : undefined,
    ...(meant.length > 0 && {
      archive: () => void act({ kind: "archive", archived: !meant.every(isArchived) }, meant),
      pin: () => void act({ kind: "pin", pinned: !meant.every(isPinned) }, meant),
      tag: () => setTagged(meant),
    }),
  });
  useEscape({ on: shown && selection.choosing, inside: nav, onEscape: selection.end });

  const empty = view.shelf !== "deleted" && !unread && rows.length === 0 && (hasSessions === true || isFiltered(view));
  const allArchived = empty && !more && !reading && view.shelf === "listed" && !isFiltered(view);
  const emptyWords = !empty ? "" : more || reading ? "Looking further back…" : isFiltered(view) ? "No session matches." : view.shelf === "archived" ? "Nothing is archived." : "Every session is archived.";

  return (
    <nav
      ref={nav}
      aria-label="Sessions"
      className="safe-top flex min-h-0 flex-1 flex-col"
      onKeyDown={(event) => {
        const inRow = event.target instanceof HTMLElement && event.target.closest("[data-row]") !== null;
        if (inRow && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
          event.preventDefault();
          handle.current?.move(event.key === "ArrowDown" ? 1 : -1);
        }
      }}
    >
      {current === null && hasSessions === true && <h1 className="sr-only md:hidden">Sessions</h1>}
      <header className="flex items-center justify-between gap-2 py-3 pr-3 pl-4">
        <Link href="/" className="-m-1 rounded p-1" aria-label="Throughline, all sessions">
          <Wordmark />
        </Link>
        <Button onClick={() => show("new-session")} className="px-3!">
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

      {(hasSessions === true || view.shelf !== "listed") && <ListTools view={view} onView={changeView} onSelect={selection.begin} />}

      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-4">
        {failure !== null && <Alert className="m-2">{failure}</Alert>}
        <p role="status" className={emptyWords === "" ? "" : "px-2.5 py-3 text-[0.9375rem] text-soft"}>
          {emptyWords}
        </p>
        {allArchived && (
          <button type="button" className="small-button mx-2.5" onClick={() => changeView({ shelf: "archived" })}>
            Show archived sessions
          </button>
        )}
        {view.shelf === "deleted" ? (
          <DeletedList />
        ) : unread || (hasSessions === null && rows.length === 0) ? (
          <Placeholder />
        ) : empty ? null : rows.length === 0 ? (
          <>
            {narrow ? (
              <div className="px-3 pt-6">
                <FirstSteps />
              </div>
            ) : (
              <p className="px-2 py-3 text-[0.9375rem] text-soft">No sessions yet.</p>
            )}
            <p className="px-2 text-[0.8125rem] text-soft max-md:px-3 max-md:pt-4">
              <button type="button" className="small-button" onClick={() => changeView({ shelf: "deleted" })}>
                Deleted sessions
              </button>
            </p>
          </>
        ) : (
          <SessionLines
            lines={lines}
            whole={!more}
            current={current}
            now={now}
            selection={selection}
            scroller={scroller}
            handle={handle}
            onFocused={setFocused}
            onFold={onFold}
            onEnd={readOn}
          />
        )}
        {more && view.shelf !== "deleted" && (
          <div className="px-2 pt-3">
            <Button look="quiet" className="w-full" disabled={reading} onClick={readOn}>
              {reading ? "Reading…" : "Older sessions"}
            </Button>
          </div>
        )}
      </div>

      {tagged !== null && shown && <TagDialog rows={tagged} onRun={(action) => void act(action, tagged)} onClose={() => setTagged(null)} />}
      {selection.choosing && <SelectionBar rows={selection.rows} onRun={(action) => void act(action, selection.rows)} onTag={() => setTagged(selection.rows)} onAll={selection.all} onEnd={selection.end} />}

      <footer hidden={selection.choosing} className="safe-bottom flex min-h-14 [&[hidden]]:hidden items-center justify-between gap-2 border-t border-rule py-2 pr-3 pl-4 text-sm text-soft">
        <div role="status" className="min-w-0 text-[0.8125rem] text-ink empty:-mr-2">
          {notice}
        </div>
        {notice === null && (
          <p className="min-w-0 flex-1 text-[0.8125rem] leading-tight">
            {needYou !== null && <strong className="block font-semibold text-thread">{needYou}</strong>}
            {rest !== null && hasSessions === true && <span className="block">{rest}</span>}
          </p>
        )}
        <Link href="/usage" className={buttonClass("quiet")}>
          Usage
        </Link>
        <Link href="/settings" aria-label="Settings" title="Settings" className="inline-flex size-11 shrink-0 items-center justify-center rounded-lg text-soft hover:bg-press hover:text-ink md:size-10">
          <Icon name="settings" />
        </Link>
        <IconButton label={ACTIONS.keys.name} className="max-md:hidden" onClick={() => show("keys")}>
          <Icon name="keyboard" />
        </IconButton>
      </footer>
    </nav>
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
