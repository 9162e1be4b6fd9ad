// Which dialog lies over the page: one at a time, opened by key, by a part of the page or by the address.
//
// Invariant: nothing lies over what greets a newcomer unless they ask for it. A session that the address asks for is offered
// there instead, and keeps its directory until there is one. Where a dialog lies over the page already, the one that the
// address asks for waits until that is closed.
import { useCallback, useEffect, useState } from "react";

import { hasCode } from "../api/credential";
import { ACTIONS, useActions } from "../app/actions";
import type { DialogName } from "../app/FrameContext";
import { NEW_FIELD } from "../routes";
import { useChord } from "../ui/keyPresses";
import { addressField, removeAddressField } from "../ui/navigation";

export interface DialogState {
  readonly open: DialogName | null;
  /** The directory that the address asked for a new session in. */
  readonly directory: string | null;
  show(dialog: DialogName): void;
  /** Closes this one; another that was opened meanwhile stays. */
  close(dialog: DialogName): void;
  /** The new session is there: its dialog closes, and what the address asked for is done. */
  created(): void;
}

/** `greets`: newcomers are greeted on this page; null until that is known. */
export function useDialogs(greets: boolean | null): DialogState {
  const [directory, setDirectory] = useState(() => addressField(NEW_FIELD));
  // Whether the dialog for that directory is yet to be opened, once it is known who is there and no other is open.
  const [waiting, setWaiting] = useState(directory !== null);
  const [open, setOpen] = useState<DialogName | null>(null);
  if (waiting && greets === true) {
    setWaiting(false);
  } else if (waiting && greets === false && open === null) {
    setWaiting(false);
    setOpen("new-session");
  }
  const close = useCallback(
    (dialog: DialogName) => {
      setOpen((now) => (now === dialog ? null : now));
      if (dialog === "new-session") {
        setWaiting(false);
        if (greets !== true) {
          setDirectory(null);
        }
      }
    },
    [greets],
  );
  const created = useCallback(() => {
    close("new-session");
    setDirectory(null);
  }, [close]);
  // While the search is on its way, what is typed already is meant for it.
  const openAlone = (dialog: DialogName) => setOpen((now) => (now === "search" && document.querySelector("dialog[open]") === null ? now : dialog));
  useActions({
    "new-session": () => openAlone("new-session"),
    "go-to": () => openAlone("picker"),
    keys: () => openAlone("keys"),
  });
  useChord(ACTIONS.search.chord, (event) => {
    // The browser's own use of it is to search, too.
    event.preventDefault();
    setOpen((now) => (now === "search" ? null : now === null && document.querySelector("dialog[open]") === null ? "search" : now));
  });
  useEffect(() => {
    removeAddressField(NEW_FIELD);
    const look = () => {
      const asked = addressField(NEW_FIELD);
      // A link with a code loads the page anew, which then looks again.
      if (asked !== null && !hasCode()) {
        removeAddressField(NEW_FIELD);
        setDirectory(asked);
        setWaiting(true);
      }
    };
    addEventListener("hashchange", look);
    return () => {
      removeEventListener("hashchange", look);
    };
  }, []);
  return { open, directory, show: setOpen, close, created };
}
