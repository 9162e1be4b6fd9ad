// An applet's writes to its state, on their way to the server.
//
// Invariant: they arrive in their order, one at a time and at most `MOST_A_SECOND`; what waits is one write, however many there were.
// What the server did not take stays here until it does, and goes with the next prompt (`carry`): then later writes wait behind that
// prompt, so that nothing older is written over them. A write that names the version it expects is never kept: it is made again by
// whoever knows the state that there is then. Nothing waits here that no server would take: it is refused when it is written.
import type { Answer } from "../../api/http";
import type { JsonObject, NewAppletState } from "../../wire/applets";
import { Refusal, refusalOf } from "./refusal";

export type SendWrite = (write: NewAppletState) => Promise<Answer<unknown>>;

const MOST_A_SECOND = 50;
const PACE_MS = 1_000 / MOST_A_SECOND;
/** A write that has no answer by then counts as kept: the applet goes on, and so does the write. */
const SLOW_MS = 5_000;
const RETRY_MS = 3_000;
/** Of writes that name a version; others become one. */
const MOST_WAITING = 100;
/** Of a state, as the server has it. */
const MOST_BYTES = 256 * 1024;
const MAX_DEPTH = 32;

interface Write {
  write: NewAppletState;
  readonly waiters: { resolve(version: number): void; reject(refusal: Refusal): void }[];
}

export class StateQueue {
  readonly #send: SendWrite;
  readonly #queue: Write[] = [];
  #flying: Write | null = null;
  /** What could not be sent. */
  #kept: JsonObject | null = null;
  #isCarried = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sentAt = -Infinity;
  #known: { state: JsonObject; version: number } = { state: {}, version: 0 };

  constructor(send: SendWrite) {
    this.#send = send;
  }

  /** The server's state, as far as it is known here. */
  heard(state: JsonObject, version: number): void {
    if (version > this.#known.version) {
      this.#known = { state, version };
    }
  }

  /** The state with all that is on its way. */
  get shown(): { state: JsonObject; version: number } {
    return { state: merged(this.#known.state, this.unsent ?? {}), version: this.#known.version };
  }

  /** Gives the version that the state has then. */
  write(write: NewAppletState): Promise<number> {
    return new Promise((resolve, reject) => {
      checkWrite(write);
      const slow = setTimeout(() => resolve(this.#provisional()), SLOW_MS);
      const waiter = {
        resolve: (version: number) => {
          clearTimeout(slow);
          resolve(version);
        },
        reject: (refusal: Refusal) => {
          clearTimeout(slow);
          reject(refusal);
        },
      };
      if (write.version !== undefined) {
        clearTimeout(slow);
      }
      const last = this.#queue.at(-1);
      if (last !== undefined && last.write.version === undefined && write.version === undefined) {
        const both = joined(last.write, write);
        if (isTooLarge(contentOf(both))) {
          waiter.reject(new Refusal("too_large", `what waits to be written is larger than ${MOST_BYTES} bytes together`));
          return;
        }
        last.write = both;
        last.waiters.push(waiter);
      } else if (this.#queue.length >= MOST_WAITING) {
        waiter.reject(new Refusal("busy", "too many writes are waiting"));
      } else {
        this.#queue.push({ write, waiters: [waiter] });
      }
      this.#pump();
    });
  }

  /** Whatever the server has not said that it has; null if there is nothing. */
  get unsent(): JsonObject | null {
    const writes = [this.#flying, ...this.#queue].flatMap((each) => (each === null || each.write.version !== undefined ? [] : [each.write]));
    const all = writes.reduce<JsonObject | null>((before, write) => ({ ...before, ...this.#asMerge(write) }), this.#kept);
    return all;
  }

  /** Hands what is unsent to a prompt; later writes wait until it is settled. */
  carry(): JsonObject | null {
    const unsent = this.#isCarried ? null : this.unsent;
    // Of several writes, each small enough; together they would have the prompt refused.
    if (unsent === null || isTooLarge(unsent)) {
      return null;
    }
    for (const each of this.#queue.filter(({ write }) => write.version === undefined)) {
      this.#queue.splice(this.#queue.indexOf(each), 1);
      each.waiters.forEach(({ resolve }) => resolve(this.#provisional()));
    }
    this.#isCarried = true;
    this.#kept = unsent;
    return unsent;
  }

  /** The prompt is there, with the state; or it went nowhere. */
  settle(arrived: boolean): void {
    if (this.#isCarried) {
      this.#isCarried = false;
      this.#kept = arrived ? null : this.#kept;
      this.#pump();
    }
  }

  /** The connection is back. */
  retry(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pump();
  }

  #pump(): void {
    if (this.#flying !== null || this.#timer !== undefined || this.#isCarried || (this.#kept === null && this.#queue.length === 0)) {
      return;
    }
    const wait = this.#sentAt + PACE_MS - performance.now();
    if (wait > 0) {
      this.#later(wait);
      return;
    }
    const next = this.#kept === null ? this.#queue.shift() : { write: { merge: this.#kept }, waiters: [] };
    if (next !== undefined) {
      this.#kept = null;
      void this.#fly(next);
    }
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => this.retry(), ms);
  }

  async #fly(write: Write): Promise<void> {
    this.#flying = write;
    this.#sentAt = performance.now();
    const answer = await this.#send(write.write);
    this.#flying = null;
    if (answer.ok) {
      const version = versionOf(answer.value) ?? this.#provisional();
      write.waiters.forEach(({ resolve }) => resolve(version));
    } else if (answer.failure.kind === "unreachable" && write.write.version === undefined) {
      // What a prompt carries already has all of it.
      if (!this.#isCarried) {
        this.#kept = { ...this.#asMerge(write.write), ...this.#kept };
        this.#later(RETRY_MS);
      }
      write.waiters.forEach(({ resolve }) => resolve(this.#provisional()));
    } else {
      const refusal = refusalOf(answer.failure);
      write.waiters.forEach(({ reject }) => reject(refusal));
    }
    this.#pump();
  }

  /** Between the version that is known and the next: the applet keeps showing its write until there is one that is newer. */
  #provisional(): number {
    return this.#known.version + 0.5;
  }

  /** A whole state takes the keys away that it does not have. */
  #asMerge(write: NewAppletState): JsonObject {
    if ("merge" in write) {
      return write.merge;
    }
    const gone = Object.keys(this.#known.state).filter((key) => !Object.hasOwn(write.state, key));
    return { ...Object.fromEntries(gone.map((key) => [key, null])), ...write.state };
  }
}

/** Throws a `Refusal` if no server would take it. */
function checkWrite(write: NewAppletState): void {
  const content = contentOf(write);
  if (isDeeper(content, MAX_DEPTH)) {
    throw new Refusal("too_large", `a state is nested at most ${MAX_DEPTH} deep`);
  }
  if (!isOfUnicode(content)) {
    throw new Refusal("bad_arguments", "a text in it is no Unicode: it holds half of a character");
  }
  if (isTooLarge(content)) {
    throw new Refusal("too_large", `a state has at most ${MOST_BYTES} bytes`);
  }
}

function contentOf(write: NewAppletState): JsonObject {
  return "merge" in write ? write.merge : write.state;
}

function isTooLarge(content: JsonObject): boolean {
  return new TextEncoder().encode(JSON.stringify(content)).length > MOST_BYTES;
}

function isDeeper(value: unknown, levels: number): boolean {
  return typeof value === "object" && value !== null && (levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1)));
}

/** Half of a surrogate pair is a string to JavaScript, and JSON to nobody else. */
const LONE_SURROGATE = /\p{Cs}/u;

function isOfUnicode(value: unknown): boolean {
  if (typeof value === "string") {
    return !LONE_SURROGATE.test(value);
  }
  return typeof value !== "object" || value === null || Object.entries(value).every((each) => each.every(isOfUnicode));
}

function joined(before: NewAppletState, write: NewAppletState): NewAppletState {
  if ("state" in write) {
    return write;
  }
  return "state" in before ? { state: merged(before.state, write.merge) } : { merge: { ...before.merge, ...write.merge } };
}

export function merged(state: JsonObject, merge: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...state, ...merge }).filter(([, value]) => value !== null));
}

function versionOf(value: unknown): number | null {
  const { version } = (value ?? {}) as { version?: unknown };
  return typeof version === "number" ? version : null;
}
