// What the cards of applets in the transcript know of what happens beside it.
import { createContext } from "react";

import type { NewestApplet } from "../../state/followed";
import type { OutputId, SessionId } from "../../wire/names";

export interface AppletsBeside {
  /** Beside which applets open; none where no session is shown. */
  readonly session: SessionId | null;
  /** The applet that the agent showed last, if that is known. */
  readonly newest: NewestApplet | null;
  /** It was shown just now, and there was no room to open it. */
  readonly fresh: OutputId | null;
  /** The output that is open as it was. */
  readonly past: OutputId | null;
}

export const AppletsContext = createContext<AppletsBeside>({ session: null, newest: null, fresh: null, past: null });
