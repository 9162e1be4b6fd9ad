// The whole URL table, and the frame that every page stands in: the list on the left, what is open beside it.
import type { ReactNode } from "react";
import { createElement, useCallback, useEffect, useMemo, useState } from "react";

import { hasCode } from "./api/credential";
import type { Failure } from "./api/http";
import { useAppState, useHttp } from "./app/AppContext";
import { useConnectionNotice } from "./ConnectionBanner";
import { KeysDialog } from "./keys/KeysDialog";
import { PickerButton } from "./picker/PickerButton";
import type SessionPicker from "./picker/SessionPicker";
import type SearchPalette from "./search/SearchPalette";
import { NewSessionDialog } from "./session-list/NewSessionDialog";
import { SessionListPage } from "./session-list/SessionListPage";
import { Welcome } from "./session-list/Welcome";
import { RememberedDialog } from "./session/items/RememberedDialog";
import { SessionPage } from "./session/SessionPage";
import { SignedOutPage } from "./sign-in/SignedOutPage";
import type { Thread } from "./state/chain";
import { goOn } from "./state/chain";
import { titleOf } from "./state/words";
import { DialogBoundary, PanelBoundary, RouteBoundary } from "./ui/Boundary";
import { buttonClass } from "./ui/Button";
import { useChord, useKeyPresses } from "./ui/keyPresses";
import { Link } from "./ui/Link";
import { addressField, navigate, removeAddressField, usePath } from "./ui/navigation";
import { Notice } from "./ui/Notice";
import { UndoDelete } from "./UndoDelete";
import type { SessionId, SessionRow } from "./wire/names";

type Route = { page: "list" } | { page: "session"; session: SessionId } | { page: "unknown" };

export function routeOf(path: string): Route {
  if (path === "/") {
    return { page: "list" };
  }
  const session = /^\/s\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/.exec(path)?.[1];
  return session === undefined ? { page: "unknown" } : { page: "session", session };
}

type OpenDialog = "none" | "new-session" | "keys" | "remembered" | "search" | "picker";

const DIALOG_NAMES: Readonly<Record<OpenDialog, string>> = {
  none: "",
  "new-session": "New session",
  keys: "Keyboard shortcuts",
  remembered: "Remembered permissions",
  search: "Search",
  picker: "Sessions",
};

/** The code of the palette and of the picker is not in the first load; it comes so long after it. */
const PARTS_AFTER_MS = 1_000;

/** `#new=DIRECTORY` asks for a session there; what comes of it is up to the person who sees the dialog. */
export const NEW_FIELD = "new";

export function Routes() {
  const signedOut = useAppState((state) => state.connection.kind === "signed_out");
  return <RouteBoundary>{signedOut ? <SignedOutPage reason="signed_out" /> : <Frame />}</RouteBoundary>;
}

function Frame() {
  const http = useHttp();
  const route = routeOf(usePath());
  const [wanted, setWanted] = useState(() => addressField(NEW_FIELD));
  const [dialog, setDialog] = useState<OpenDialog>(wanted === null ? "none" : "new-session");
  const [begun, setBegun] = useState<SessionId | null>(null);
  const notice = useConnectionNotice();
  const [thread, setThread] = useState<Thread>([]);
  const goOnTo = useCallback((from: SessionId, to: SessionId) => {
    setThread((before) => goOn(before, from, to));
    navigate(`/s/${to}`);
  }, []);
  const [deleted, setDeleted] = useState<SessionRow | null>(null);
  const current = route.page === "session" ? route.session : null;
  useTitle(current);
  useKeyPresses({
    n: (event) => {
      event.preventDefault();
      setDialog("new-session");
    },
    g: (event) => {
      event.preventDefault();
      setDialog("picker");
    },
    "?": () => setDialog("keys"),
  });
  const palette = usePart<typeof SearchPalette>(loadPalette, dialog === "search");
  const picker = usePart<typeof SessionPicker>(loadPicker, dialog === "picker");
  useChord("k", (event) => {
    // The browser's own use of it is to search, too.
    event.preventDefault();
    setDialog((open) => (open === "search" ? "none" : open === "none" && document.querySelector("dialog[open]") === null ? "search" : open));
  });
  const commands = useMemo(
    () => [
      { name: "New session", keys: "n", run: () => setDialog("new-session") },
      { name: "Go to a session", keys: "g", run: () => setDialog("picker") },
      { name: "All sessions", keys: "", run: () => navigate("/") },
      { name: "Remembered permissions", keys: "", run: () => setDialog("remembered") },
      { name: "Keyboard shortcuts", keys: "?", run: () => setDialog("keys") },
    ],
    [],
  );

  useEffect(() => {
    removeAddressField(NEW_FIELD);
    const look = () => {
      const directory = addressField(NEW_FIELD);
      // A link with a code loads the page anew, which then looks again.
      if (directory !== null && !hasCode()) {
        removeAddressField(NEW_FIELD);
        setWanted(directory);
        setDialog("new-session");
      }
    };
    addEventListener("hashchange", look);
    return () => {
      removeEventListener("hashchange", look);
    };
  }, []);
  const closeDialog = () => {
    setDialog("none");
    setWanted(null);
  };

  const remove = async (row: SessionRow): Promise<Failure | null> => {
    const answer = await http.deleteSession(row.id);
    if (!answer.ok) {
      return answer.failure;
    }
    navigate("/");
    setDeleted(row);
    return null;
  };

  return (
    <>
      <a href="#open" className="absolute top-2 left-2 z-20 -translate-y-20 rounded-lg bg-ink px-4 py-2 text-paper focus:translate-y-0">
        Skip the list
      </a>
      <div className="flex h-dvh">
        <div className={`min-w-0 flex-col ground-shade border-rule md:flex md:w-80 md:shrink-0 md:border-r ${route.page === "list" ? "flex flex-1 md:flex-none" : "hidden"}`}>
          <PanelBoundary name="The list of sessions">
            <SessionListPage
              current={current}
              notice={current === null ? notice : null}
              onNew={() => setDialog("new-session")}
              onSearch={() => setDialog("search")}
              onShowKeys={() => setDialog("keys")}
              onShowRemembered={() => setDialog("remembered")}
            />
          </PanelBoundary>
        </div>
        <main id="open" tabIndex={-1} className={`min-w-0 flex-1 flex-col outline-none md:flex ${route.page === "list" ? "hidden" : "flex"}`}>
          <RouteBoundary of={route.page === "session" ? route.session : route.page}>
            <Open
              route={route}
              thread={thread}
              begun={begun}
              notice={notice}
              onWent={goOnTo}
              onNew={() => setDialog("new-session")}
              onSearch={() => setDialog("search")}
              onPick={() => setDialog("picker")}
              onDelete={remove}
            />
          </RouteBoundary>
        </main>
      </div>
      {deleted !== null && (
        <UndoDelete
          key={deleted.id}
          row={deleted}
          onDismiss={() => setDeleted(null)}
          onRestored={() => {
            setDeleted(null);
            navigate(`/s/${deleted.id}`);
          }}
        />
      )}
      <DialogBoundary name={DIALOG_NAMES[dialog]} of={dialog} onClose={closeDialog}>
        {dialog === "new-session" && (
          <NewSessionDialog
            key={wanted}
            directory={wanted}
            onClose={closeDialog}
            onCreated={(session) => {
              closeDialog();
              setBegun(session);
              navigate(`/s/${session}`);
            }}
          />
        )}
        {dialog === "search" &&
          palette !== null &&
          createElement(palette, { commands, onClose: () => setDialog((open) => (open === "search" ? "none" : open)) })}
        {dialog === "picker" && picker !== null && createElement(picker, { current, onClose: closeDialog })}
        {dialog === "keys" && <KeysDialog onClose={closeDialog} />}
        {dialog === "remembered" && <RememberedDialog onClose={closeDialog} />}
      </DialogBoundary>
    </>
  );
}

interface OpenProps {
  route: Route;
  /** The session that was begun last on this page. */
  begun: SessionId | null;
  notice: ReactNode;
  /** Sessions that were gone to from one another: their pages are one. */
  thread: Thread;
  onWent(from: SessionId, to: SessionId): void;
  onNew(): void;
  onSearch(): void;
  onPick(): void;
  onDelete(row: SessionRow): Promise<Failure | null>;
}

function Open({ route, begun, notice, thread, onWent, onNew, onSearch, onPick, onDelete }: OpenProps) {
  const list = useAppState((state) => state.list);
  switch (route.page) {
    case "session":
      return (
        <SessionPage
          key={thread.includes(route.session) ? thread[0] : route.session}
          session={route.session}
          fresh={route.session === begun}
          notice={notice}
          picker={<PickerButton session={route.session} onOpen={onPick} />}
          onWent={onWent}
          onSearch={onSearch}
          onDelete={onDelete}
        />
      );
    case "list":
      return list.extent.kind === "unread" ? null : <Welcome hasSessions={list.rows.size > 0} onNew={onNew} />;
    case "unknown":
      return (
        <Notice title="Nothing is at this address">
          <p>It may have been cut off when it was copied.</p>
          <Link href="/" className={`mt-6 ${buttonClass("plain")}`}>
            All sessions
          </Link>
        </Notice>
      );
  }
}

const loadPalette = () => import("./search/SearchPalette").then((loaded) => loaded.default);
const loadPicker = () => import("./picker/SessionPicker").then((loaded) => loaded.default);

/**
 * A part of the page once it is loaded. Not by `lazy`, which shows nothing for a moment even if all is there: what is
 * typed right after the keys that open it is meant for it.
 */
function usePart<Part>(load: () => Promise<Part>, wanted: boolean): Part | null {
  const [part, setPart] = useState<{ part: Part } | null>(null);
  const missing = part === null;
  useEffect(() => {
    if (!missing) {
      return undefined;
    }
    const timer = setTimeout(
      () =>
        void load().then(
          (loaded) => setPart({ part: loaded }),
          // Without an answer it is asked for again when it is wanted.
          () => undefined,
        ),
      wanted ? 0 : PARTS_AFTER_MS,
    );
    return () => {
      clearTimeout(timer);
    };
  }, [missing, load, wanted]);
  return part?.part ?? null;
}

/** The window's title: how many answers are unseen, and what is open. */
function useTitle(current: SessionId | null): void {
  const unseen = useAppState((state) => state.list.unobservedCount);
  const title = useAppState((state) => {
    const row = current === null ? undefined : state.list.rows.get(current);
    return row === undefined ? null : titleOf(row);
  });
  useEffect(() => {
    const count = unseen > 0 ? `(${unseen}) ` : "";
    document.title = count + (title === null ? "Throughline" : `${title} · Throughline`);
  }, [unseen, title]);
}
