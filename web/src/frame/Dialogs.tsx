// The dialog that lies over the page, if one does.
import { createElement } from "react";

import { ACTIONS, useAvailable } from "../app/actions";
import type { DialogName } from "../app/FrameContext";
import { KeysDialog } from "../keys/KeysDialog";
import type SessionPicker from "../picker/SessionPicker";
import type SearchPalette from "../search/SearchPalette";
import { NewSessionDialog } from "../session-list/NewSessionDialog";
import { DialogBoundary } from "../ui/Boundary";
import { Dialog } from "../ui/Dialog";
import { navigate } from "../ui/navigation";
import type { SessionId } from "../wire/names";
import type { DialogState } from "./useDialogs";
import { NotLoaded } from "./NotLoaded";
import { usePart } from "./usePart";

const NAMES: Readonly<Record<DialogName, string>> = {
  "new-session": "New session",
  keys: ACTIONS.keys.name,
  search: "Search",
  picker: "Sessions",
};

/** What is not in the first load. */
const LOADS = {
  palette: (): Promise<typeof SearchPalette> => import("../search/SearchPalette").then((loaded) => loaded.default),
  picker: (): Promise<typeof SessionPicker> => import("../picker/SessionPicker").then((loaded) => loaded.default),
};

interface DialogsProps {
  dialogs: DialogState;
  current: SessionId | null;
  onBegun(session: SessionId): void;
  /** For tests: what does not come. */
  loads?: typeof LOADS;
}

export function Dialogs({ dialogs: { open, directory, close, created }, current, onBegun, loads = LOADS }: DialogsProps) {
  const palette = usePart(loads.palette, open === "search");
  const picker = usePart(loads.picker, open === "picker");
  const commands = useAvailable();
  if (open === null) {
    return null;
  }
  const onClose = () => close(open);
  const late = open === "search" ? palette : open === "picker" ? picker : null;
  return (
    <DialogBoundary name={NAMES[open]} of={open} onClose={onClose}>
      {open === "new-session" && (
        <NewSessionDialog
          key={directory}
          directory={directory}
          onClose={onClose}
          onCreated={(session) => {
            created();
            onBegun(session);
            navigate(`/s/${session}`);
          }}
        />
      )}
      {open === "search" && palette.kind === "ready" && createElement(palette.part, { commands, onClose })}
      {open === "picker" && picker.kind === "ready" && createElement(picker.part, { current, onClose })}
      {late?.kind === "failed" && (
        <Dialog title={NAMES[open]} onClose={onClose}>
          <NotLoaded onRetry={late.retry} />
        </Dialog>
      )}
      {open === "keys" && <KeysDialog onClose={onClose} />}
    </DialogBoundary>
  );
}
