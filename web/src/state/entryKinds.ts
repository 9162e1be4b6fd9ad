// Every kind of entry, and which folds of the page it changes.
//
// Invariant: a kind that the API description has and this table lacks does not compile, and neither does a fold that leaves
// out a kind that the table gives it. A kind that only a newer server knows is in no fold but the transcript's, which says
// that it is there.
import type { Entry, EventOf } from "../wire/names";

type Fold = "transcript" | "turn" | "contents" | "queue" | "agent" | "live";

const FOLDS = {
  "session.created": ["transcript"],
  "session.changed": ["transcript", "agent"],
  "session.observed": [],
  "session.deleted": [],
  "session.restored": [],
  "session.forked": ["transcript"],
  "session.imported": [],
  "agent.state_changed": ["agent"],
  "agent.options_changed": ["agent"],
  "agent.option_chosen": [],
  "agent.commands_changed": ["agent"],
  "agent.raw": [],
  "agent.noticed": ["turn"],
  "turn.started": ["transcript", "contents", "live"],
  "turn.ended": ["turn", "contents", "live"],
  "prompt.queued": ["queue"],
  "prompt.changed": ["queue"],
  "prompt.removed": ["queue"],
  "prompt.sent": ["turn", "contents", "queue"],
  "resume.sent": ["turn"],
  "text.part": ["turn", "live"],
  "thought.part": ["turn", "live"],
  "tool.started": ["turn"],
  "tool.changed": ["turn"],
  "tool.part": ["turn", "live"],
  "tool.ended": ["turn"],
  "plan.changed": ["turn"],
  "permission.asked": ["transcript", "turn"],
  "permission.answered": ["transcript", "turn", "live"],
  "usage.reported": ["turn", "agent"],
  "compaction.seen": ["turn"],
  "context.set": [],
  "fact.proved": [],
  "title.set": [],
  "summary.set": ["contents"],
  "next.offered": ["turn", "live"],
  "next.clicked": ["live"],
  "block.shown": ["turn"],
  "output.stored": ["turn", "live"],
  "output.removed": ["transcript"],
  "applet.shown": ["turn", "live"],
  "applet.saved": ["turn"],
} as const satisfies Record<Entry["type"], readonly Fold[]>;

type Kinds = typeof FOLDS;

/** The entries that change a fold. */
export type EntryFor<F extends Fold> = EventOf<{ [K in keyof Kinds]: F extends Kinds[K][number] ? K : never }[keyof Kinds]>;

export function isFor<F extends Fold>(entry: Entry, fold: F): entry is EntryFor<F> {
  return isKnown(entry) && (FOLDS[entry.type] as readonly Fold[]).includes(fold);
}

/** This page knows what it says; a server newer than the page may send others. */
export function isKnown(entry: Entry): boolean {
  return Object.hasOwn(FOLDS, entry.type);
}
