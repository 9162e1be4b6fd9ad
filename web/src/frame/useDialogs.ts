// Which dialog lies over the page: one at a time, opened by key, by a part of the page or by the address.
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
}

export function useDialogs(): DialogState {
  const [directory, setDirectory] = useState(() => addressField(NEW_FIELD));
  const [open, setOpen] = useState<DialogName | null>(directory === null ? null : "new-session");
  const close = useCallback((dialog: DialogName) => {
    setOpen((now) => (now === dialog ? null : now));
    if (dialog === "new-session") {
      setDirectory(null);
    }
  }, []);
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
        setOpen("new-session");
      }
    };
    addEventListener("hashchange", look);
    return () => {
      removeEventListener("hashchange", look);
    };
  }, []);
  return { open, directory, show: setOpen, close };
}
