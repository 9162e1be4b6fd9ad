// Several sessions at once: what was done and what was refused is said, and undoing gives each session back what it had.
import { expect, test, vi } from "vitest";

import type { Http } from "../api/http";
import type { SessionRow } from "../wire/names";
import { runBulkAction } from "./bulkActions";

const row = (id: string, change: Partial<SessionRow> = {}) => ({ id, unobserved: false, ...change }) as SessionRow;
const rows = ["a", "b", "c", "d", "e"].map((id) => row(id));
const ok = { ok: true as const, value: {} };
const refused = { ok: false as const, failure: { kind: "refused" as const, status: 409, code: "requests_open", message: "its agent waits for an answer" } };

/** What each session was told, in the order of their ids. */
function server(answer: (id: string) => object = () => ok) {
  const fileSession = vi.fn((id: string, _filing: object) => Promise.resolve(answer(id)));
  const told = () => {
    const calls = fileSession.mock.calls.toSorted(([a], [b]) => a.localeCompare(b));
    fileSession.mockClear();
    return calls;
  };
  return { http: { fileSession } as unknown as Http, told };
}

test("all are archived, and it is undone", async () => {
  const { http, told } = server();
  const outcome = await runBulkAction(http, { kind: "archive", archived: true }, rows);
  expect(outcome).toMatchObject({ words: "Archived 5 sessions.", failed: [] });
  expect(told()).toEqual(rows.map(({ id }) => [id, { archived: true }]));
  const back = await outcome.undo?.();
  expect(back).toEqual({ words: "Unarchived 5 sessions.", undo: null });
  expect(told()).toEqual(rows.map(({ id }) => [id, { archived: false }]));
});

test("what is refused stays, and only what was done is undone", async () => {
  const { http, told } = server((id) => (id === "b" ? refused : ok));
  const outcome = await runBulkAction(http, { kind: "archive", archived: true }, rows);
  expect(outcome).toMatchObject({ words: "Archived 4 sessions. 1 session not changed: Its agent waits for an answer.", failed: ["b"] });
  told();
  await outcome.undo?.();
  expect(told().map(([id]) => id)).toEqual(["a", "c", "d", "e"]);
});

test("a session that had the tag before keeps it when the tag is taken from the others again", async () => {
  const { http, told } = server();
  const chosen = [row("a", { tags: ["bug", "urgent"] }), row("b", { tags: ["bug"] }), row("c")];
  const outcome = await runBulkAction(http, { kind: "tag", add: ["Urgent", "bug"], remove: [] }, chosen);
  expect(outcome.words).toBe("Tagged 2 sessions.");
  expect(told()).toEqual([
    ["b", { addTags: ["urgent"], removeTags: [] }],
    ["c", { addTags: ["urgent", "bug"], removeTags: [] }],
  ]);
  expect((await outcome.undo?.())?.words).toBe("Untagged 2 sessions.");
  expect(told()).toEqual([
    ["b", { addTags: [], removeTags: ["urgent"] }],
    ["c", { addTags: [], removeTags: ["urgent", "bug"] }],
  ]);
});

test.each([
  [{ kind: "pin", pinned: true }, { pinnedAt: "2026-01-02T03:04:05.006Z" }, { pinned: false }],
  [{ kind: "archive", archived: true }, { archivedAt: "2026-01-02T03:04:05.006Z" }, { archived: false }],
] as const)("%j leaves those alone that are so already, and so does undoing it", async (action, already, undone) => {
  const { http, told } = server();
  const outcome = await runBulkAction(http, action, [row("a", already), row("b")]);
  expect(told().map(([id]) => id)).toEqual(["b"]);
  await outcome.undo?.();
  expect(told()).toEqual([["b", undone]]);
});

test("where all are so already nothing is asked, and it is said", async () => {
  const { http, told } = server();
  expect(await runBulkAction(http, { kind: "seen" }, rows)).toEqual({ words: "Nothing to change.", undo: null, failed: [] });
  expect(told()).toEqual([]);
});

test("deleted ones are restored, and one that was refused can be tried again", async () => {
  const restoreSession = vi.fn((id: string) => Promise.resolve(id === "b" ? (refused as object) : ok));
  const http = { deleteSession: vi.fn(() => Promise.resolve(ok)), restoreSession } as unknown as Http;
  const outcome = await runBulkAction(http, { kind: "delete" }, rows.slice(0, 2));
  expect(outcome.words).toBe("Deleted 2 sessions.");
  const back = await outcome.undo?.();
  expect(back?.words).toBe("Restored 1 session. 1 session not changed: Its agent waits for an answer.");
  restoreSession.mockClear();
  restoreSession.mockResolvedValue(ok);
  expect(await back?.undo?.()).toEqual({ words: "Restored 1 session.", undo: null });
  expect(restoreSession.mock.calls).toEqual([["b"]]);
});

test("that all refused says why, and leaves nothing to undo", async () => {
  const http = { observe: () => Promise.resolve(refused) } as unknown as Http;
  expect(await runBulkAction(http, { kind: "seen" }, [row("a", { unobserved: true })])).toEqual({ words: "Its agent waits for an answer.", undo: null, failed: ["a"] });
});
