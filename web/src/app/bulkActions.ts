// What is done with one session or several at once, and how it is undone.
//
// Invariant: only sessions that it changes are asked to change, and undoing gives each of these back what it had before; a
// session that was so already keeps it.
import type { Answer, Failure, Http } from "../api/http";
import { failureWords } from "../api/http";
import { isArchived, isPinned } from "../state/sessionList";
import { counted } from "../ui/counted";
import type { SessionId, SessionRow } from "../wire/names";

export type BulkAction = { kind: "archive"; archived: boolean } | { kind: "pin"; pinned: boolean } | { kind: "tag"; add: readonly string[]; remove: readonly string[] } | { kind: "seen" } | { kind: "delete" };

/** What is to be said of it. */
export interface Outcome {
  readonly words: string;
  /** Undoes what was done, and gives what came of that, if there is anything to say; null where nothing can be undone. */
  readonly undo: (() => Promise<Outcome | null>) | null;
}

export interface BulkOutcome extends Outcome {
  /** Sessions that were to change and did not. */
  readonly failed: readonly SessionId[];
}

type Call = () => Promise<Answer<unknown>>;

/** One session that changes: how it is done, and how it is undone. */
interface Change {
  readonly id: SessionId;
  readonly run: Call;
  readonly undo: Call | null;
}

const AT_ONCE = 4;

export async function runBulkAction(http: Http, action: BulkAction, rows: readonly SessionRow[]): Promise<BulkOutcome> {
  const changes = rows.flatMap((row) => changeOf(http, action, row) ?? []);
  const { done, failed, failure } = await runAll(changes, ({ run }) => run());
  const back = done.filter(({ undo }) => undo !== null);
  return {
    words: changes.length === 0 ? "Nothing to change." : words(verb(action), done.length, failed.length, failure),
    undo: back.length === 0 ? null : () => undoAll(action, back),
    failed: failed.map(({ id }) => id),
  };
}

/** Null where the session is so already. */
function changeOf(http: Http, action: BulkAction, row: SessionRow): Change | null {
  const { id } = row;
  const file = (filing: Parameters<Http["fileSession"]>[1]): Call => () => http.fileSession(id, filing);
  switch (action.kind) {
    case "archive":
      return isArchived(row) === action.archived ? null : { id, run: file({ archived: action.archived }), undo: file({ archived: !action.archived }) };
    case "pin":
      return isPinned(row) === action.pinned ? null : { id, run: file({ pinned: action.pinned }), undo: file({ pinned: !action.pinned }) };
    case "tag": {
      // The server makes capitals small.
      const small = (tags: readonly string[]) => [...new Set(tags.map((tag) => tag.toLowerCase()))];
      const add = small(action.add).filter((tag) => !row.tags?.includes(tag));
      const remove = small(action.remove).filter((tag) => row.tags?.includes(tag));
      return add.length + remove.length === 0 ? null : { id, run: file({ addTags: add, removeTags: remove }), undo: file({ addTags: remove, removeTags: add }) };
    }
    case "seen":
      // That it was seen can not be undone.
      return row.unobserved ? { id, run: () => http.observe(id), undo: null } : null;
    case "delete":
      return { id, run: () => http.deleteSession(id), undo: () => http.restoreSession(id) };
  }
}

/** What could not be undone can be tried again. */
async function undoAll(action: BulkAction, changes: readonly Change[]): Promise<Outcome> {
  const { done, failed, failure } = await runAll(changes, ({ undo }) => undo?.() ?? Promise.resolve({ ok: true, value: null }));
  return { words: words(undoneVerb(action), done.length, failed.length, failure), undo: failed.length === 0 ? null : () => undoAll(action, failed) };
}

async function runAll(changes: readonly Change[], call: (change: Change) => Promise<Answer<unknown>>): Promise<{ done: Change[]; failed: Change[]; failure: Failure | null }> {
  const done: Change[] = [];
  const failed: Change[] = [];
  let failure: Failure | null = null;
  const waiting = [...changes];
  const work = async () => {
    for (let change = waiting.shift(); change !== undefined; change = waiting.shift()) {
      const answer = await call(change);
      if (answer.ok) {
        done.push(change);
      } else {
        failed.push(change);
        failure ??= answer.failure;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, failed, failure };
}

function words(did: string, done: number, failed: number, failure: Failure | null): string {
  const refused = failure === null ? "" : `${done === 0 ? "" : `${counted(failed, "session")} not changed: `}${failureWords(failure)}`;
  return `${done === 0 ? "" : `${did} ${counted(done, "session")}.`} ${refused}`.trim();
}

function verb(action: BulkAction): string {
  switch (action.kind) {
    case "archive":
      return action.archived ? "Archived" : "Unarchived";
    case "pin":
      return action.pinned ? "Pinned" : "Unpinned";
    case "tag":
      return action.add.length > 0 ? "Tagged" : "Untagged";
    case "seen":
      return "Marked as seen:";
    case "delete":
      return "Deleted";
  }
}

function undoneVerb(action: BulkAction): string {
  switch (action.kind) {
    case "archive":
      return verb({ kind: "archive", archived: !action.archived });
    case "pin":
      return verb({ kind: "pin", pinned: !action.pinned });
    case "tag":
      return verb({ kind: "tag", add: action.remove, remove: action.add });
    case "seen":
      return verb(action);
    case "delete":
      return "Restored";
  }
}
