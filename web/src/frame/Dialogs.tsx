// The dialog that lies over the page, if one does.
import { createElement, useMemo } from "react";

import type { DialogName } from "../app/FrameContext";
import { KeysDialog } from "../keys/KeysDialog";
import type SessionPicker from "../picker/SessionPicker";
import type SearchPalette from "../search/SearchPalette";
import { RememberedDialog } from "../session/items/RememberedDialog";
import { NewSessionDialog } from "../session-list/NewSessionDialog";
import { DialogBoundary } from "../ui/Boundary";
import { navigate } from "../ui/navigation";
import type { SessionId } from "../wire/names";
import type { DialogState } from "./useDialogs";
import { usePart } from "./usePart";

const NAMES: Readonly<Record<DialogName, string>> = {
  "new-session": "New session",
  keys: "Keyboard shortcuts",
  remembered: "Remembered permissions",
  search: "Search",
  picker: "Sessions",
};

const loadPalette = () => import("../search/SearchPalette").then((loaded) => loaded.default);
const loadPicker = () => import("../picker/SessionPicker").then((loaded) => loaded.default);

interface DialogsProps {
  dialogs: DialogState;
  current: SessionId | null;
  onBegun(session: SessionId): void;
}

export function Dialogs({ dialogs: { open, directory, show, close }, current, onBegun }: DialogsProps) {
  const palette = usePart<typeof SearchPalette>(loadPalette, open === "search");
  const picker = usePart<typeof SessionPicker>(loadPicker, open === "picker");
  const commands = useMemo(
    () => [
      { name: "New session", keys: "n", run: () => show("new-session") },
      { name: "Go to a session", keys: "g", run: () => show("picker") },
      { name: "All sessions", keys: "", run: () => navigate("/") },
      { name: "Remembered permissions", keys: "", run: () => show("remembered") },
      { name: "Keyboard shortcuts", keys: "?", run: () => show("keys") },
    ],
    [show],
  );
  if (open === null) {
    return null;
  }
  const onClose = () => close(open);
  return (
    <DialogBoundary name={NAMES[open]} of={open} onClose={onClose}>
      {open === "new-session" && (
        <NewSessionDialog
          key={directory}
          directory={directory}
          onClose={onClose}
          onCreated={(session) => {
            onClose();
            onBegun(session);
            navigate(`/s/${session}`);
          }}
        />
      )}
      {open === "search" && palette !== null && createElement(palette, { commands, onClose })}
      {open === "picker" && picker !== null && createElement(picker, { current, onClose })}
      {open === "keys" && <KeysDialog onClose={onClose} />}
      {open === "remembered" && <RememberedDialog onClose={onClose} />}
    </DialogBoundary>
  );
}
