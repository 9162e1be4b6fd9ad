// Requests over the WebSocket that somebody waits for an answer to.
//
// Invariant: each is answered once: by the server, or as unreachable when the connection ends before.
import type { ErrorDetail } from "../wire/names";
import type { Answer } from "./http";

type Answered = (answer: Answer<unknown>) => void;

export class LiveRequests {
  readonly #waiting = new Map<string, Answered>();

  /** `id` is null where there is no connection. */
  answerTo(id: string | null): Promise<Answer<unknown>> {
    return id === null ? Promise.resolve({ ok: false, failure: { kind: "unreachable" } }) : new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  acknowledge(id: string, result: unknown): void {
    this.#answer(id, { ok: true, value: result });
  }

  /** Whether somebody waited for it. */
  refuse(id: string, error: ErrorDetail): boolean {
    return this.#answer(id, { ok: false, failure: { kind: "refused", status: 0, ...error } });
  }

  /** The connection is gone: what was asked may have been done all the same. */
  lose(): void {
    for (const id of [...this.#waiting.keys()]) {
      this.#answer(id, { ok: false, failure: { kind: "unreachable" } });
    }
  }

  #answer(id: string, answer: Answer<unknown>): boolean {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(answer);
    return resolve !== undefined;
  }
}
