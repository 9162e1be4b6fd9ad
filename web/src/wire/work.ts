// What the server says of pieces of work, by hand until api.d.ts has it; then these are names for its types, as those in
// names.ts are.
import type { components } from "./api";

type Schemas = components["schemas"];
type SessionId = Schemas["SessionId"];

export type WorkId = string;

/** A named, ordered group of sessions of one project; on the wire, a meta-context. */
export interface Work {
  id: WorkId;
  name: string;
  project: string;
  /** The most recent last, without deleted ones. */
  sessionIds: SessionId[];
  createdAt: Schemas["Timestamp"];
  /** When a session was last added. */
  addedAt: Schemas["Timestamp"];
}

export interface WorkName {
  id: WorkId;
  name: string;
}

/** Those that have sessions, the one that was added to last first. */
export interface WorkPage {
  metaContexts: Work[];
  nextCursor?: string | null;
}

/** The offer that a session was started from. */
export interface Origin {
  session: SessionId;
  /** As `t42.n1`. */
  block: string;
}

/** What a session's row says of its work. */
export interface Belonging {
  /** One that was deleted since is not there any more. */
  metaContextId?: WorkId | null;
  from?: Origin | null;
}

/** What is said of one session at a time. */
export interface Standing {
  metaContext?: WorkName | null;
  /** The session before it in its work, else the one that it was started from. */
  previous?: SessionId | null;
}

export interface WorkNews {
  /** It is new, has another name, or other sessions. */
  work?: Work | null;
  /** It is gone, or has no sessions. */
  removedWork?: WorkId | null;
}

/** One numbered list over all sessions of a work. */
export interface WorkToc {
  name: string;
  total_turns: number;
  entries: WorkTocEntry[];
  next_cursor?: string | null;
}

export type WorkTocEntry = Schemas["TocEntry"] & {
  /** Its number in the whole list, from 1. */
  number: number;
  session_id: SessionId;
  session_name: string;
};
