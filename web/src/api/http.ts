// The server's HTTP routes, one function each; paths, queries, bodies and answers are typed by the API description.
//
// Invariant: a call never throws. What came of it is either the answer or one of three failures that the page can put
// into words; a caller that repeats a wish after `unreachable` gives the same key, so that it is never granted twice.
import createClient from "openapi-fetch";

import type { components, paths } from "../wire/api";
import type { NextWish } from "../wire/blocks";
import type { ErrorBody, InteractionId, NewAnswer, NewPrompt, NewSession, SessionId, SetContext } from "../wire/names";
import type { WorkId } from "../wire/work";
import { appletCalls } from "./applets";

type Schemas = components["schemas"];

/** What can be asked of the list of sessions. */
export type SessionQuery = NonNullable<paths["/api/v1/sessions"]["get"]["parameters"]["query"]>;

/** Which lines of an output are wanted. */
export type OutputLinesQuery = NonNullable<paths["/api/v1/sessions/{id}/outputs/{output}/lines"]["get"]["parameters"]["query"]>;

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export type Failure =
  /** The server said no, and why. */
  | { kind: "refused"; status: number; code: string; message: string; details?: unknown }
  | { kind: "signed_out" }
  /** No answer came. The wish may have been carried out all the same. */
  | { kind: "unreachable" };

const PROOF_HEADER = "x-throughline-proof";
const TIMEOUT_MS = 20_000;
/** For what waits for an agent to start, where the server's own limit is below it, and for outputs, which may be large. */
const SLOW_TIMEOUT_MS = 180_000;
const SLOW = /\/agents\/[^/]+\/test$|\/outputs\/[^/]+(?:\/state)?$/;
const SEARCH_RESULTS = "30";
/** The most turns that a search in one session names. */
export const FOUND_TURNS = 100;
/** What a browser without a credential asks, to find out or to get one. */
const BEFORE_SIGN_IN: readonly string[] = ["/api/v1/auth/exchange", "/api/v1/whoami"] satisfies (keyof paths)[];

export interface HttpOptions {
  proof(): string | null;
  /** The credential is not in force any more. */
  onSignedOut(): void;
}

export type Http = ReturnType<typeof createHttp>;

export function createHttp({ proof, onSignedOut }: HttpOptions) {
  const client = createClient<paths>({
    credentials: "same-origin",
    cache: "no-store",
    fetch: (request) => fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(SLOW.test(request.url) ? SLOW_TIMEOUT_MS : TIMEOUT_MS)]) }),
  });
  client.use({
    onRequest({ request }) {
      const half = proof();
      if (half !== null) {
        request.headers.set(PROOF_HEADER, half);
      }
    },
    onResponse({ response, schemaPath }) {
      if (response.status === 401 && !BEFORE_SIGN_IN.includes(schemaPath)) {
        onSignedOut();
      }
    },
  });
  const { GET, POST, PATCH, DELETE } = client;
  const of = (id: string) => ({ params: { path: { id } } });
  const patch = (id: SessionId, body: Schemas["SessionPatch"]) => answered(PATCH("/api/v1/sessions/{id}", { ...of(id), body }));

  return {
    exchangeCode: (code: string) => answered(POST("/api/v1/auth/exchange", { body: { code } })),
    /** Uses the code up without signing anybody in. */
    discardCode: (code: string) => answered(POST("/api/v1/auth/exchange", { body: { code, discard: true } })),
    whoami: () => answered(GET("/api/v1/whoami")),
    /** All of them, which may take seconds; or, at once, those that are known so far. */
    agents: ({ soFar = false } = {}) => answered(GET("/api/v1/agents", { params: { query: soFar ? { soFar } : {} } })),
    /** Starts it and ends it again, which may take as long as an agent may take to start. */
    testAgent: (name: string) => answered(POST("/api/v1/agents/{name}/test", { params: { path: { name } } })),
    settings: () => answered(GET("/api/v1/settings")),
    tokens: () => answered(GET("/api/v1/tokens")),
    revokeToken: (id: string) => answered(DELETE("/api/v1/tokens/{id}", of(id))),
    signInLink: (name: string) => answered(POST("/api/v1/tokens/link", { body: { name } })),
    directories: (prefix: string) => answered(GET("/api/v1/directories", { params: { query: { prefix } } })),
    files: (id: SessionId, prefix: string) => answered(GET("/api/v1/sessions/{id}/files", { params: { path: { id }, query: { prefix } } })),
    /** Those that a filter asks for. */
    findSessions: (query: SessionQuery, signal: AbortSignal | null) => answered(GET("/api/v1/sessions", { params: { query: { limit: 200, ...query } }, signal })),
    deletedSessions: (after: string | null) => answered(GET("/api/v1/deleted-sessions", { params: { query: { limit: 50, after: after ?? undefined } } })),
    tags: () => answered(GET("/api/v1/tags")),
    /** Pins, archives or tags a session; only what is present changes. */
    fileSession: (id: SessionId, filing: Pick<Schemas["SessionPatch"], "pinned" | "archived" | "tags" | "addTags" | "removeTags">) => patch(id, filing),
    sessionsAfter: (after: string, limit = 50) => answered(GET("/api/v1/sessions", { params: { query: { after, limit } } })),
    createSession: (body: NewSession) => answered(POST("/api/v1/sessions", { body })),
    renameSession: (id: SessionId, name: string) => patch(id, { name }),
    setEnvHint: (id: SessionId, envHint: string) => patch(id, { envHint }),
    setContext: (id: SessionId, setContext: SetContext) => patch(id, { setContext }),
    /** Which applet was open last; it goes out though the page is being left. */
    captureApplet: (id: SessionId, items: string[]) => answered(PATCH("/api/v1/sessions/{id}", { ...of(id), body: { setContext: { setName: "applet", items, mode: "replace" } }, keepalive: true })),
    /** `null` takes the person's name away, so that the newest title shows again. */
    setPinnedTitle: (id: SessionId, pinnedTitle: string | null) => patch(id, { pinnedTitle }),
    toc: (id: SessionId, after: string) => answered(GET("/api/v1/sessions/{id}/toc", { params: { path: { id }, query: { after } } })),
    /** In everything; one that is not wanted any more is stopped. */
    search: (wish: { q: string; exact: boolean; after?: string }, signal: AbortSignal | null) =>
      answered(GET("/api/v1/search", { params: { query: { ...wish, limit: SEARCH_RESULTS } }, signal })),
    /** In one session: the lines of its contents that match, each with where. */
    searchSession: (id: SessionId, wish: { q: string; exact: boolean }, signal: AbortSignal | null) =>
      answered(GET("/api/v1/sessions/{id}/search", { params: { path: { id }, query: { ...wish, limit: String(FOUND_TURNS) } }, signal })),
    titleHistory: (id: SessionId) => answered(GET("/api/v1/sessions/{id}/title-history", of(id))),
    /** One entry, however long it is. */
    entry: (id: SessionId, seq: number) =>
      answered(GET("/api/v1/sessions/{id}/entries", { params: { path: { id }, query: { after: String(seq - 1), limit: 1 } } })),
    /** The entries of some turns, both included, as many as come at once. */
    entriesOfTurns: (id: SessionId, fromTurn: number, toTurn: number, after: string | null) =>
      answered(GET("/api/v1/sessions/{id}/entries", { params: { path: { id }, query: { fromTurn: String(fromTurn), toTurn: String(toTurn), limit: 1000, after: after ?? undefined } } })),
    /** The session as Markdown, or one turn of it. */
    markdown: (id: SessionId, turn: number | null) =>
      answered(GET("/api/v1/sessions/{id}/markdown", { params: { path: { id }, query: turn === null ? {} : { fromTurn: String(turn), toTurn: String(turn) } }, parseAs: "text" })),
    /** An address of the session as a file to take along, good for a minute. */
    exportTicket: (id: SessionId, as: "markdown" | "html" | "bundle") => answered(POST("/api/v1/sessions/{id}/export/ticket", { params: { path: { id }, query: { as } } })),
    /** An output with its bytes, as text where they are text; the server refuses those over 16 MiB. */
    output: (id: SessionId, output: string) =>
      answered(GET("/api/v1/sessions/{id}/outputs/{output}", { params: { path: { id, output }, query: { format: "json" } } })),
    /** An output's bytes, however many they are. */
    outputBytes: (id: SessionId, output: string) => answered(GET("/api/v1/sessions/{id}/outputs/{output}", { params: { path: { id, output } }, parseAs: "blob" })),
    /** Whether an output's bytes are as they were shown; the server reads all of them. */
    outputState: (id: SessionId, output: string) => answered(GET("/api/v1/sessions/{id}/outputs/{output}/state", { params: { path: { id, output } } })),
    /** What the session's agent showed, in the order in which it did. */
    outputs: (id: SessionId, after: string | null) => answered(GET("/api/v1/sessions/{id}/outputs", { params: { path: { id }, query: { limit: 200, after: after ?? undefined } } })),
    /** Lines of an output that is text, by their numbers in it, or those that hold a text. */
    outputLines: (id: SessionId, output: string, query: OutputLinesQuery, signal: AbortSignal | null) =>
      answered(GET("/api/v1/sessions/{id}/outputs/{output}/lines", { params: { path: { id, output }, query }, signal })),
    /** What an entry has only the head of. */
    body: (id: SessionId, sha256: string) => answered(GET("/api/v1/sessions/{id}/bodies/{sha256}", { params: { path: { id, sha256 } }, parseAs: "blob" })),
    /** An address of an output for an element of the page, good for a minute. */
    outputTicket: (id: SessionId, output: string) => answered(POST("/api/v1/sessions/{id}/outputs/{output}/ticket", { params: { path: { id, output } } })),
    /** Its card stays. */
    removeOutput: (id: SessionId, output: string) => answered(DELETE("/api/v1/sessions/{id}/outputs/{output}", { params: { path: { id, output } } })),
    /** The files that changed; `since` and `turn` as the API has them. */
    changes: (id: SessionId, query: { since: string } | { turn: string }) => answered(GET("/api/v1/sessions/{id}/changes", { params: { path: { id }, query } })),
    /** A page of one file's diff. */
    fileDiff: (id: SessionId, path: string, query: { since: string } | { turn: string }, after: number) =>
      answered(GET("/api/v1/sessions/{id}/changes/file", { params: { path: { id }, query: { ...query, path, after } } })),
    resumePacket: (id: SessionId) => answered(GET("/api/v1/sessions/{id}/resume-packet", of(id))),
    readFile: (session: SessionId, path: string, confirm: boolean) =>
      answered(GET("/api/v1/storage/file", { params: { query: { session, path, confirm } } })),
    readSession: (id: SessionId) => answered(GET("/api/v1/sessions/{id}", of(id))),
    deleteSession: (id: SessionId) => answered(DELETE("/api/v1/sessions/{id}", of(id))),
    removeSessionForGood: (id: SessionId) => answered(DELETE("/api/v1/sessions/{id}", { params: { path: { id }, query: { now: true } } })),
    restoreSession: (id: SessionId) => answered(POST("/api/v1/sessions/{id}/restore", of(id))),
    /** Begins a session that goes on from a turn of this one. */
    fork: (id: SessionId, body: Schemas["NewFork"]) => answered(POST("/api/v1/sessions/{id}/fork", { ...of(id), body })),
    /** Brings the session's agent back, or hands the session over to another. */
    resume: (id: SessionId, body: Schemas["Resume"]) => answered(POST("/api/v1/sessions/{id}/resume", { ...of(id), body })),
    setOption: (id: SessionId, option: string, body: Schemas["NewValue"]) =>
      answered(POST("/api/v1/sessions/{id}/options/{option}", { params: { path: { id, option } }, body })),
    signInToAgent: (id: SessionId, body: Schemas["SignIn"]) => answered(POST("/api/v1/sessions/{id}/sign-in", { ...of(id), body })),
    sendPrompt: (id: SessionId, body: NewPrompt) => answered(POST("/api/v1/sessions/{id}/prompts", { ...of(id), body: body as Schemas["NewPrompt"] })),
    unsent: (id: SessionId) => answered(GET("/api/v1/sessions/{id}/unsent", of(id))),
    putUnsent: (id: SessionId, body: Schemas["NewUnsent"]) => answered(PATCH("/api/v1/sessions/{id}/unsent", { ...of(id), body })),
    changePrompt: (id: SessionId, interaction: InteractionId, text: string) =>
      answered(PATCH("/api/v1/sessions/{id}/prompts/{interaction}", { params: { path: { id, interaction } }, body: { text } })),
    removePrompt: (id: SessionId, interaction: InteractionId) =>
      answered(DELETE("/api/v1/sessions/{id}/prompts/{interaction}", { params: { path: { id, interaction } } })),
    cancel: (id: SessionId) => answered(POST("/api/v1/sessions/{id}/cancel", of(id))),
    /** `request` is its number in the session, as `p7`. */
    answerPermission: (id: SessionId, request: string, body: NewAnswer) =>
      answered(POST("/api/v1/sessions/{id}/permissions/{request}", { params: { path: { id, request } }, body })),
    remembered: () => answered(GET("/api/v1/permissions")),
    forgetPermission: (id: string) => answered(DELETE("/api/v1/permissions/{id}", of(id))),
    works: (after: string | null) => answered(GET("/api/v1/meta-contexts", { params: { query: { limit: 200, after: after ?? undefined } } })),
    work: (id: WorkId) => answered(GET("/api/v1/meta-contexts/{id}", of(id))),
    workToc: (id: WorkId, after: number) => answered(GET("/api/v1/meta-contexts/{id}/toc", { params: { path: { id }, query: { after } } })),
    /** What turns used, summed up; days begin by the browser's clock. */
    usage: (query: { by: "day" | "agent" | "model" | "project" | "work" | "session"; from: string; to: string; limit?: string }) =>
      answered(GET("/api/v1/usage", { params: { query: { ...query, offset: String(-new Date().getTimezoneOffset()) } } })),
    /** What a session used, and so many turns of it after one. */
    sessionUsage: (id: SessionId, after: number, limit: number) =>
      answered(GET("/api/v1/sessions/{id}/usage", { params: { path: { id }, query: { after: String(after), limit: String(limit) } } })),
    imports: () => answered(GET("/api/v1/imports")),
    beginImport: () => answered(POST("/api/v1/imports", { body: {} })),
    nextSteps: (id: SessionId, before: string | null) =>
      answered(GET("/api/v1/sessions/{id}/next", { params: { path: { id }, query: { limit: 200, before: before ?? undefined } } })),
    /** `block` is its place, as `t3.n1`. Asked again, it leads to the same session. */
    takeNext: (id: SessionId, block: string, body: NextWish) => answered(POST("/api/v1/sessions/{id}/next/{block}", { params: { path: { id, block } }, body })),
    observe: (id: SessionId) => answered(POST("/api/v1/sessions/{id}/observe", of(id))),
    ...appletCalls(client, answered),
  };
}

/** As openapi-fetch gives it: the error's text, where that is not what the API describes. */
export type Fetched<T> = { data?: T; error?: ErrorBody | string; response: Response };

async function answered<T>(call: Promise<Fetched<T>>): Promise<Answer<T>> {
  try {
    const { data, error, response } = await call;
    return response.ok ? { ok: true, value: data as T } : { ok: false, failure: failureOf(response.status, error) };
  } catch {
    return { ok: false, failure: { kind: "unreachable" } };
  }
}

function failureOf(status: number, body: ErrorBody | string | undefined): Failure {
  if (status === 401) {
    return { kind: "signed_out" };
  }
  const { code, message, details } =
    typeof body === "object" ? body.error : { code: "unknown", message: `the server answered with status ${status}`, details: {} };
  return { kind: "refused", status, code, message, details };
}

/** What to tell the person about a call that failed. */
export function failureWords(failure: Failure): string {
  switch (failure.kind) {
    case "refused":
      return sentence(failure.message);
    case "signed_out":
      return "This browser is not signed in any more.";
    case "unreachable":
      return "The server did not answer.";
  }
}

/** A fragment, as the server's messages and reasons are, made to stand alone. */
export function sentence(fragment: string): string {
  const text = fragment.trim();
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
}
