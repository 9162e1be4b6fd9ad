// What a part of the page asks of the frame that it stands in.
import type { ReactNode } from "react";
import { createContext, use } from "react";

import type { Failure } from "../api/http";
import type { SessionId, SessionRow } from "../wire/names";
import type { BulkAction, BulkOutcome } from "./bulkActions";

export type DialogName = "new-session" | "keys" | "search" | "picker";

export interface Frame {
  show(dialog: DialogName): void;
  /** A next step was taken and goes on in that session: the two are one page from now on. */
  goOn(from: SessionId, to: SessionId): void;
  /** Deletes a session and leaves its page; gives what went wrong, if it did. */
  remove(row: SessionRow): Promise<Failure | null>;
  /** Does it with these sessions, and says below the page what came of it, with the way to undo it. */
  run(action: BulkAction, rows: readonly SessionRow[]): Promise<BulkOutcome>;
}

export const FrameContext = createContext<Frame | null>(null);

export function useFrame(): Frame {
  const frame = use(FrameContext);
  if (frame === null) {
    throw new Error("this part of the page stands outside of the frame");
  }
  return frame;
}

/** The directory that the address asked for a new session in, until there is one or it was declined. */
export const WantedDirectory = createContext<string | null>(null);

/** What is to be said of the connection, if anything: how things stand is not known then. */
export const ConnectionNotice = createContext<ReactNode>(null);
