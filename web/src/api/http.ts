// The server's HTTP routes, one function each.
//
// Invariant: a call never throws. What came of it is either the answer or one of three failures that the page can put
// into words; a caller that repeats a wish after `unreachable` gives the same key, so that it is never granted twice.
import type { components } from "../wire/api";
import type { NextPage, NextWish, Went } from "../wire/blocks";
import type { EntryPage, ErrorBody, InteractionId, NewAnswer, NewPrompt, NewSession, RememberedPage, SearchPage, SessionId, SessionPage, SetContext } from "../wire/names";
import type { Work, WorkId, WorkPage, WorkToc } from "../wire/work";

type Schemas = components["schemas"];

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export type Failure =
  /** The server said no, and why. */
  | { kind: "refused"; status: number; code: string; message: string; details?: unknown }
  | { kind: "signed_out" }
  /** No answer came. The wish may have been carried out all the same. */
  | { kind: "unreachable" };

const BASE = "/api/v1";
const PROOF_HEADER = "x-throughline-proof";
const TIMEOUT_MS = 20_000;
const SEARCH_RESULTS = 30;
/** The most turns that a search in one session names. */
export const FOUND_TURNS = 100;

export interface HttpOptions {
  proof(): string | null;
  /** The credential is not in force any more. */
  onSignedOut(): void;
}

export type Http = ReturnType<typeof createHttp>;

export function createHttp({ proof, onSignedOut }: HttpOptions) {
  async function call<T>(method: string, path: string, body?: object, stop?: AbortSignal | null): Promise<Answer<T>> {
    const headers = new Headers();
    const half = proof();
    if (half !== null) {
      headers.set(PROOF_HEADER, half);
    }
    if (body !== undefined) {
      headers.set("content-type", "application/json");
    }
    try {
      const response = await fetch(BASE + path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        credentials: "same-origin",
        cache: "no-store",
        signal: stop ? AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]) : AbortSignal.timeout(TIMEOUT_MS),
      });
      return response.ok ? { ok: true, value: await readValue<T>(response) } : { ok: false, failure: await readFailure(response) };
    } catch {
      return { ok: false, failure: { kind: "unreachable" } };
    }
  }

  /** As `call`, for what needs a credential. */
  async function ask<T>(method: string, path: string, body?: object, stop?: AbortSignal | null): Promise<Answer<T>> {
    const answer = await call<T>(method, path, body, stop);
    if (!answer.ok && answer.failure.kind === "signed_out") {
      onSignedOut();
    }
    return answer;
  }

  const session = (id: SessionId) => `/sessions/${encodeURIComponent(id)}`;
  const prompt = (id: SessionId, interaction: InteractionId) => `${session(id)}/prompts/${encodeURIComponent(interaction)}`;

  return {
    exchangeCode: (code: string) => call<Schemas["Proof"]>("POST", "/auth/exchange", { code } satisfies Schemas["CodeExchange"]),
    /** Uses the code up without signing anybody in. */
    discardCode: (code: string) =>
      call<undefined>("POST", "/auth/exchange", { code, discard: true } satisfies Schemas["CodeExchange"]),
    whoami: () => call<Schemas["Whoami"]>("GET", "/whoami"),
    agents: () => ask<Schemas["AgentPage"]>("GET", "/agents"),
    directories: (prefix: string) => ask<Schemas["DirectoryPage"]>("GET", `/directories?prefix=${encodeURIComponent(prefix)}`),
    files: (id: SessionId, prefix: string) => ask<Schemas["FilePage"]>("GET", `${session(id)}/files?prefix=${encodeURIComponent(prefix)}`),
    sessionsAfter: (cursor: string, limit = 50) => ask<SessionPage>("GET", `/sessions?limit=${limit}&after=${encodeURIComponent(cursor)}`),
    createSession: (wish: NewSession) => ask<Schemas["Session"]>("POST", "/sessions", wish),
    renameSession: (id: SessionId, name: string) =>
      ask<Schemas["Success"]>("PATCH", session(id), { name } satisfies Schemas["SessionPatch"]),
    setEnvHint: (id: SessionId, envHint: string) => ask<Schemas["Changed"]>("PATCH", session(id), { envHint } satisfies Schemas["SessionPatch"]),
    setContext: (id: SessionId, setContext: SetContext) =>
      ask<Schemas["Changed"]>("PATCH", session(id), { setContext } satisfies Schemas["SessionPatch"]),
    /** `null` takes the person's name away, so that the newest title shows again. */
    setPinnedTitle: (id: SessionId, pinnedTitle: string | null) =>
      ask<Schemas["Changed"]>("PATCH", session(id), { pinnedTitle } satisfies Schemas["SessionPatch"]),
    toc: (id: SessionId, after: string) => ask<Schemas["Toc"]>("GET", `${session(id)}/toc?after=${encodeURIComponent(after)}`),
    /** In everything; one that is not wanted any more is stopped. */
    search: (wish: { q: string; exact: boolean; after?: string }, stop: AbortSignal | null) =>
      ask<SearchPage>("GET", `/search?${searchFields({ ...wish, limit: SEARCH_RESULTS })}`, undefined, stop),
    /** In one session: the lines of its contents that match, each with where. */
    searchSession: (id: SessionId, wish: { q: string; exact: boolean }, stop: AbortSignal | null) =>
      ask<Schemas["Toc"]>("GET", `${session(id)}/search?${searchFields({ ...wish, limit: FOUND_TURNS })}`, undefined, stop),
    titleHistory: (id: SessionId) => ask<Schemas["TitleHistory"]>("GET", `${session(id)}/title-history`),
    /** One entry, however long it is. */
    entry: (id: SessionId, seq: number) => ask<EntryPage>("GET", `${session(id)}/entries?after=${seq - 1}&limit=1`),
    /** The entries of some turns, both included, as many as come at once. */
    entriesOfTurns: (id: SessionId, from: number, to: number, after: string | null) =>
      ask<EntryPage>(
        "GET",
        `${session(id)}/entries?fromTurn=${from}&toTurn=${to}&limit=1000${after === null ? "" : `&after=${encodeURIComponent(after)}`}`,
      ),
    resumePacket: (id: SessionId) => ask<Schemas["ResumePacket"]>("GET", `${session(id)}/resume-packet`),
    readFile: (id: SessionId, path: string, confirm: boolean) =>
      ask<Schemas["StoredFile"]>("GET", `/storage/file?session=${encodeURIComponent(id)}&path=${encodeURIComponent(path)}${confirm ? "&confirm=true" : ""}`),
    readSession: (id: SessionId) => ask<Schemas["Session"]>("GET", session(id)),
    deleteSession: (id: SessionId) => ask<undefined>("DELETE", session(id)),
    removeSessionForGood: (id: SessionId) => ask<undefined>("DELETE", `${session(id)}?now=true`),
    restoreSession: (id: SessionId) => ask<Schemas["Success"]>("POST", `${session(id)}/restore`),
    /** Brings the session's agent back, or hands the session over to another. */
    resume: (id: SessionId, wish: Schemas["Resume"]) => ask<Schemas["Resumed"]>("POST", `${session(id)}/resume`, wish),
    setOption: (id: SessionId, option: string, wish: Schemas["NewValue"]) =>
      ask<Schemas["Success"]>("POST", `${session(id)}/options/${encodeURIComponent(option)}`, wish),
    signInToAgent: (id: SessionId, wish: Schemas["SignIn"]) => ask<Schemas["Success"]>("POST", `${session(id)}/sign-in`, wish),
    sendPrompt: (id: SessionId, wish: NewPrompt) => ask<Schemas["PromptAccepted"]>("POST", `${session(id)}/prompts`, wish),
    changePrompt: (id: SessionId, interaction: InteractionId, text: string) =>
      ask<Schemas["Success"]>("PATCH", prompt(id, interaction), { text } satisfies Schemas["PromptPatch"]),
    removePrompt: (id: SessionId, interaction: InteractionId) => ask<undefined>("DELETE", prompt(id, interaction)),
    cancel: (id: SessionId) => ask<Schemas["Success"]>("POST", `${session(id)}/cancel`),
    /** `request` is its number in the session, as `p7`. */
    answerPermission: (id: SessionId, request: string, answer: NewAnswer) =>
      ask<Schemas["Success"]>("POST", `${session(id)}/permissions/${encodeURIComponent(request)}`, answer),
    remembered: () => ask<RememberedPage>("GET", "/permissions"),
    forgetPermission: (id: string) => ask<undefined>("DELETE", `/permissions/${encodeURIComponent(id)}`),
    works: (after: string | null) => ask<WorkPage>("GET", `/meta-contexts?limit=200${after === null ? "" : `&after=${encodeURIComponent(after)}`}`),
    work: (id: WorkId) => ask<Work>("GET", `/meta-contexts/${encodeURIComponent(id)}`),
    workToc: (id: WorkId, after: string | null) =>
      ask<WorkToc>("GET", `/meta-contexts/${encodeURIComponent(id)}/toc${after === null ? "" : `?after=${encodeURIComponent(after)}`}`),
    imports: () => ask<Schemas["Imports"]>("GET", "/imports"),
    beginImport: () => ask<Schemas["ImportProgress"]>("POST", "/imports", {}),
    nextSteps: (id: SessionId, before: string | null) =>
      ask<NextPage>("GET", `${session(id)}/next?limit=200${before === null ? "" : `&before=${encodeURIComponent(before)}`}`),
    /** `step` is its place, as `t3.n1`. Asked again, it leads to the same session. */
    takeNext: (id: SessionId, step: string, wish: NextWish) => ask<Went>("POST", `${session(id)}/next/${encodeURIComponent(step)}`, wish),
    observe: (id: SessionId) => ask<Schemas["Observed"]>("POST", `${session(id)}/observe`),
  };
}

function searchFields({ q, exact, after, limit }: { q: string; exact: boolean; after?: string; limit: number }): URLSearchParams {
  return new URLSearchParams({ q, limit: String(limit), ...(exact ? { exact: "true" } : {}), ...(after === undefined ? {} : { after }) });
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

/** An answer may be empty: 204, or 202 with nothing to add. */
async function readValue<T>(response: Response): Promise<T> {
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

async function readFailure(response: Response): Promise<Failure> {
  if (response.status === 401) {
    return { kind: "signed_out" };
  }
  const { error } = await response.json().then(
    (body) => body as ErrorBody,
    () => ({ error: { code: "unknown", message: `the server answered with status ${response.status}`, details: {} } }),
  );
  return { kind: "refused", status: response.status, code: error.code, message: error.message, details: error.details };
}
