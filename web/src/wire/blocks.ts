// What the server says of next steps and cards, by hand until api.d.ts has it; then these are names for its types, as
// those in names.ts are, and `BlockEntry` is a part of its `Entry`.
import type { components } from "./api";

type Schemas = components["schemas"];

/** Which characters of which text of a turn; counted in Unicode scalar values, fences included. */
export interface Span {
  block: number;
  start: number;
  /** The character after the last. */
  end: number;
}

export interface Next {
  label: string;
  /** What is sent to the new session's agent. */
  command: string;
  /** The piece of work, by its name; without one it leads nowhere. */
  metaContext?: string | null;
}

export type Card =
  | { kind: "usecase"; useCases: UseCase[] }
  | { kind: "eventmodel"; slices: Slice[] }
  | { kind: "tasks"; tasks: Task[] };

export interface UseCase {
  id: string;
  name: string;
  actor: string;
  summary: string;
  given: string[];
  when: string[];
  then: string[];
  priority?: CasePriority | null;
  dependencies: string[];
  edgeCases: string[];
}

export type CasePriority = "high" | "medium" | "low";

/** One column of an event model. */
export interface Slice {
  slice: string;
  label: string;
  screen?: ModelNode | null;
  command?: ModelNode | null;
  events: ModelNode[];
  projections: ModelNode[];
  sideEffects: ModelNode[];
}

export interface ModelNode {
  name: string;
  new: boolean;
  fields: { name: string; type: string }[];
  /** Names of what it leads to, in this slice or another. */
  feeds: string[];
}

export interface Task {
  id: string;
  name: string;
  ucs: string[];
  depends: string[];
  wave?: number | null;
  kind: string;
  create: string[];
  modify: string[];
  description: string;
}

interface At {
  at: Schemas["Timestamp"];
  seq: number;
}

export type BlockEntry =
  | (At & { type: "next.offered"; data: { turn: number; nth: number } & Span & Next })
  | (At & { type: "block.shown"; data: { turn: number; nth: number } & Span & Card })
  | (At & { type: "next.clicked"; data: { turn: number; nth: number; work: string; session: Schemas["SessionId"]; by: Schemas["Answerer"] } });

/** A next step as it stands. */
export interface NextBlock extends Next {
  /** As `t3.n1`. */
  id: string;
  turn: number;
  state: "open" | "used" | "superseded" | "incomplete";
  metaContextId?: string | null;
  /** Where it went on. */
  sessionId?: Schemas["SessionId"] | null;
  /** The later turn that offers a step of the same work. */
  supersededBy?: number | null;
}

/** Newest first. */
export interface NextPage {
  blocks: NextBlock[];
  /** Given as `before` for older ones; null at the end. */
  nextCursor?: string | null;
}

/** With what the new session begins; what is left out is as in this one. */
export interface NextWish {
  agent?: string;
  model?: string;
  mode?: string;
}

export interface Went {
  metaContextId: string;
  sessionId: Schemas["SessionId"];
}
