// One session: its header, its transcript, and the composer.
import type { ReactNode } from "react";
import { useEffect, useId, useMemo, useRef, useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useApp, useAppState } from "../app/AppContext";
import type { Link as ChainLink } from "../state/chain";
import { runningTurn, turnCount } from "../state/followed";
import { isDeleted } from "../state/sessionList";
import type { NewerItem } from "../state/transcript";
import { standingWords, titleOf } from "../state/words";
import { Alert } from "../ui/Alert";
import { DialogBoundary, PanelBoundary } from "../ui/Boundary";
import { Button, buttonClass } from "../ui/Button";
import { useChord, useKeyPresses } from "../ui/keyPresses";
import { useMedia, WIDE } from "../ui/media";
import { Knot } from "../ui/Knot";
import { Link } from "../ui/Link";
import { Icon } from "../ui/Icon";
import { addressField, removeAddressField } from "../ui/navigation";
import { Notice } from "../ui/Notice";
import type { AgentState, ErrorDetail, SessionId, SessionRow } from "../wire/names";
import type { Compose } from "./ComposeContext";
import { ComposeContext } from "./ComposeContext";
import { ContentsBeside, ContentsSheet, useContentsBeside } from "./contents/ContentsPanel";
import { useTurnInView } from "./contents/useTurnInView";
import { ContextFooter } from "./context/ContextFooter";
import { ContextPanel } from "./context/ContextPanel";
import { FileViewer } from "./context/FileViewer";
import { FindBar } from "./find/FindBar";
import type { FoundWords } from "./find/found";
import { FoundContext } from "./find/found";
import { ImportedCard } from "./ImportedCard";
import { MadeByNewer } from "./items/MadeByNewer";
import { PromptArea } from "./PromptArea";
import type { Before } from "./SessionHead";
import { SessionHeader } from "./SessionHeader";
import { Transcript } from "./Transcript";
import { useChain } from "./useChain";
import { useKnownWork } from "./useKnownWork";
import { useObserving } from "./useObserving";

interface SessionPageProps {
  session: SessionId;
  /** It was begun just now, on this page. */
  fresh: boolean;
  /** What is to be said of the connection, if anything. */
  notice: ReactNode;
  /** Chooses another session or piece of work. */
  picker: ReactNode;
  /** A next step was taken and goes on in that session. */
  onWent(from: SessionId, to: SessionId): void;
  onSearch(): void;
  onDelete(row: SessionRow): Promise<Failure | null>;
}

export function SessionPage({ session, fresh, notice, picker, onWent, onSearch, onDelete }: SessionPageProps) {
  const app = useApp();
  const { open, chain, before } = useChain(session);
  const followed = useAppState((state) => state.followed.get(session));
  const row = useAppState((state) => state.list.rows.get(session));
  const shownRow = useAppState((state) => (open === null ? undefined : state.list.rows.get(open.session)));
  const deleted = followed?.reading.kind === "deleted";
  // Somebody may bring it back, here or elsewhere: then there is something to follow again.
  const restored = deleted && row !== undefined && !isDeleted(row);

  useEffect(() => {
    if (restored) {
      app.follow(session);
    }
  }, [app, session, restored]);
  useObserving(row, followed?.reading.kind === "ready");
  useKnownWork(followed?.work?.id ?? null);

  if (followed?.reading.kind === "refused") {
    return (
      <Notice title={isMissing(followed.reading.error) ? "There is no such session" : "This session cannot be shown"}>
        <p>
          {isMissing(followed.reading.error)
            ? "It may have been deleted for good, or the address is not complete."
            : failureWords({ kind: "refused", status: 0, ...followed.reading.error })}
        </p>
        <Link href="/" className={`mt-6 ${buttonClass("plain")}`}>
          All sessions
        </Link>
      </Notice>
    );
  }
  if (deleted && !restored) {
    return <DeletedSession session={session} />;
  }
  if (open === null || shownRow === undefined) {
    return <Loading notice={notice} />;
  }
  return (
    <OpenSession
      row={shownRow}
      open={open}
      above={chain}
      before={before}
      leaving={open.session !== session}
      fresh={fresh && open.session === session}
      notice={notice}
      picker={picker}
      onWent={onWent}
      onSearch={onSearch}
      onDelete={onDelete}
    />
  );
}

/** Nothing is known by this name, or not any more. */
function isMissing(error: ErrorDetail): boolean {
  return error.code === "session_not_found" || error.code === "session_deleted";
}

/** `?file=PATH` opens a file of the session. */
const FILE_FIELD = "file";

interface OpenSessionProps extends Omit<SessionPageProps, "session"> {
  row: SessionRow;
  open: ChainLink;
  above: readonly ChainLink[];
  before: Before;
  /** The next session of the thread is on its way: nothing more is written to this one. */
  leaving: boolean;
}

/** Lives on when the next session of the thread is gone to: what belongs to one session alone has a key of its own. */
function OpenSession({ row, open, above, before, leaving, fresh, notice, picker, onWent, onSearch, onDelete }: OpenSessionProps) {
  const { followed } = open;
  const composer = useRef<Compose>(null);
  const compose = useMemo<Compose>(() => ({ edit: (prompt) => composer.current?.edit(prompt) }), []);
  const field = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState(0);
  const [panel, setPanel] = useState(false);
  const column = useRef<HTMLDivElement>(null);
  const read = useTurnInView(column, turnCount(followed));
  const current = read?.past === null ? read.turn : null;
  const contentsId = useId();
  const wide = useMedia(WIDE);
  const [beside, setBeside] = useContentsBeside();
  const [sheet, setSheet] = useState(false);
  const [finding, setFinding] = useState(false);
  const [found, setFound] = useState<FoundWords | null>(null);
  const findField = useRef<HTMLInputElement>(null);
  const toggleContents = () => {
    if (wide) {
      setBeside(!beside);
    } else {
      setSheet(true);
    }
  };
  const [file, setFile] = useState(() => addressField(FILE_FIELD));
  const closeFile = () => {
    removeAddressField(FILE_FIELD);
    setFile(null);
  };
  const damaged = row.readOnly === "damaged" || followed.reading.kind === "damaged";
  const writable = !damaged && row.readOnly !== "imported";
  const { agent } = followed;
  const turnRuns = !damaged && runningTurn(followed.transcript) !== null;
  const { transcript } = followed;
  const isEmpty = transcript.turns.length === 0 && transcript.asides.length === 0 && followed.queue.length === 0;

  useKeyPresses({
    "/": (event) => {
      event.preventDefault();
      field.current?.focus();
    },
    c: () => setPanel(true),
    t: toggleContents,
  });

  const find = () => {
    setFinding(true);
    findField.current?.focus();
    findField.current?.select();
  };
  useChord("f", (event) => {
    // The second press is for the browser's own search; so is any while something lies over the page.
    if (document.activeElement === findField.current || isEmpty || document.querySelector("dialog[open]") !== null) {
      return;
    }
    event.preventDefault();
    find();
  });
  const contents = { shown: wide && beside, id: contentsId, toggle: toggleContents };

  return (
    <ComposeContext value={writable ? compose : null}>
      <div className="flex min-h-0 flex-1">
        {wide && beside && (
          <PanelBoundary key={`contents ${row.id}`} name="The contents" className="w-72 shrink-0 border-r border-rule">
            <ContentsBeside id={contentsId} row={row} followed={followed} read={read} damaged={damaged} />
          </PanelBoundary>
        )}
        <div ref={column} className="flex min-w-0 flex-1 flex-col">
          <PanelBoundary key={`header ${row.id}`} name="The header">
            <SessionHeader
              row={row}
              agent={agent}
              running={turnRuns}
              notice={notice}
              picker={picker}
              damaged={damaged}
              onDelete={onDelete}
              onOpenContext={() => setPanel(true)}
              contents={contents}
              onSearch={onSearch}
              onFind={isEmpty ? null : find}
            />
          </PanelBoundary>
          {finding && (
            <PanelBoundary key={`find ${row.id}`} name="The search">
              <FindBar
                session={row.id}
                current={current}
                around={column}
                field={findField}
                onFound={setFound}
                onClose={() => {
                  setFinding(false);
                  column.current?.querySelector<HTMLElement>("[role=log]")?.focus({ preventScroll: true });
                }}
              />
            </PanelBoundary>
          )}
          {isEmpty && above.length === 0 ? (
            <NothingSaid row={row} agent={agent.state} newer={transcript.newer} />
          ) : (
            <FoundContext value={found}>
              <PanelBoundary name="The transcript">
                <Transcript open={open} above={above} before={before} sent={sent} onWent={onWent} />
              </PanelBoundary>
            </FoundContext>
          )}
          <p role="status" className="sr-only">
            {damaged ? "" : standingWords(row, agent.state)}
          </p>
          <div inert={leaving} className="beside-scrollbar safe-x md:px-8">
            <div className="reading">
              {damaged ? (
                <Alert className="safe-bottom">
                  The log of this session is damaged from here on. What came before is shown; it takes no more prompts. Run{" "}
                  <code>throughline doctor</code> to see what is wrong.
                </Alert>
              ) : row.readOnly === "imported" ? (
                <ImportedCard row={row} />
              ) : (
                <PanelBoundary key={`prompt ${row.id}`} name="The composer">
                  <PromptArea
                    ref={composer}
                    row={row}
                    followed={followed}
                    running={turnRuns}
                    fresh={fresh}
                    goneOn={above.length > 0 && row.from?.session === above.at(-1)?.session}
                    empty={isEmpty}
                    field={field}
                    onSent={() => setSent((count) => count + 1)}
                  />
                </PanelBoundary>
              )}
              <PanelBoundary key={`footer ${row.id}`} name="The context">
                <ContextFooter row={row} context={followed.context} writable={writable} onOpenFile={setFile} onOpenPanel={() => setPanel(true)} />
              </PanelBoundary>
            </div>
          </div>
        </div>
      </div>
      {sheet && !wide && (
        <DialogBoundary key={`contents ${row.id}`} name="Contents" onClose={() => setSheet(false)}>
          <ContentsSheet row={row} followed={followed} read={read} damaged={damaged} onClose={() => setSheet(false)} />
        </DialogBoundary>
      )}
      {panel && followed.context !== null && (
        <DialogBoundary key={`context ${row.id}`} name="Context" onClose={() => setPanel(false)}>
          <ContextPanel
            row={row}
            context={followed.context}
            writable={writable}
            onOpenFile={setFile}
            onClose={() => setPanel(false)}
          />
        </DialogBoundary>
      )}
      {file !== null && (
        <DialogBoundary key={file} name="File" onClose={closeFile}>
          <FileViewer session={row.id} path={file} onClose={closeFile} />
        </DialogBoundary>
      )}
    </ComposeContext>
  );
}

/** What an empty session waits for. */
function waitingWords(agent: AgentState): string {
  switch (agent) {
    case "starting":
      return "The agent is starting; a prompt sent now waits for it.";
    case "signed_out":
      return "The agent wants you to sign in first.";
    case "failed":
      return "The agent did not start.";
    case "stopped":
    case "ready":
    case "unresponsive":
      return "The agent is ready and waits for your first prompt.";
  }
}

function NothingSaid({ row, agent, newer }: { row: SessionRow; agent: AgentState; newer: readonly NewerItem[] }) {
  return (
    <div className="scrolls safe-x flex min-h-0 flex-1 flex-col justify-end md:px-8">
      <div className="reading">
        <div className="thread-row pb-6">
          <span aria-hidden="true" className="thread-line thread-line-first thread-line-loose" />
          <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
            <Knot shape="hollow" />
          </span>
          <p className="leading-[1.6]">The thread begins here.</p>
          <p className="mt-1 text-soft">{waitingWords(agent)}</p>
          {row.agent === "guide" && (
            <p className="mt-1 text-soft">
              Try <code>say hello</code>, <code>long 2000</code> or <code>slow 5</code>.
            </p>
          )}
          {newer.map((item, index) => (
            <MadeByNewer key={index} item={item} />
          ))}
        </div>
      </div>
    </div>
  );
}

function DeletedSession({ session }: { session: SessionId }) {
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

function Loading({ notice }: { notice: ReactNode }) {
  return (
    <div aria-busy="true" className="beside-scrollbar safe-x safe-top flex min-h-0 flex-1 flex-col md:px-8">
      <div className="flex min-h-15 items-center gap-1">
        <Link
          href="/"
          aria-label="Back to the sessions"
          className="-ml-3 inline-flex size-11 shrink-0 items-center justify-center rounded-lg text-soft active:bg-press md:hidden"
        >
          <Icon name="back" />
        </Link>
        <div role="status" className="text-[0.8125rem]">
          {notice}
        </div>
      </div>
      <p className="sr-only">Reading the session…</p>
      <div aria-hidden="true" className="reading mt-8">
        {[72, 88, 54].map((width) => (
          <div key={width} className="thread-row pb-10">
            <span className="thread-line thread-line-ahead" />
            <div className="h-4 w-2/5 rounded bg-press" />
            <div className="mt-4 h-3 rounded bg-press" style={{ width: `${width}%` }} />
            <div className="mt-2.5 h-3 rounded bg-press" style={{ width: `${width - 20}%` }} />
          </div>
        ))}
      </div>
    </div>
  );
}
