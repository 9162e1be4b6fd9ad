// Why an applet does not get what it asked for, in the words of the bridge.
import type { Failure } from "../../api/http";
import { failureWords } from "../../api/http";

export type RefusalCode = "not_granted" | "bad_arguments" | "conflict" | "too_large" | "not_found" | "busy" | "read_only" | "unknown_tool" | "timeout" | "failed";

export class Refusal extends Error {
  readonly data: { readonly code: RefusalCode; readonly [more: string]: unknown };

  constructor(code: RefusalCode, message: string, more: object = {}) {
    super(message);
    this.data = { ...more, code };
  }
}

/** What the server said, as the applet is told it. */
export function refusalOf(failure: Failure): Refusal {
  const words = failureWords(failure);
  if (failure.kind !== "refused") {
    return new Refusal("timeout", words);
  }
  const { version } = (failure.details ?? {}) as { version?: unknown };
  return new Refusal(codeOf(failure), words, typeof version === "number" ? { version } : {});
}

/** By the server's own codes, since there is no status over the WebSocket. */
const CODES: Readonly<Record<string, RefusalCode>> = {
  applet_state_conflict: "conflict",
  applet_changed: "conflict",
  file_changed: "conflict",
  not_granted: "not_granted",
  no_such_version: "not_found",
  no_applet_shown: "not_found",
  no_repository: "not_found",
  path_not_allowed: "not_found",
  file_unreadable: "not_found",
  file_not_changed: "not_found",
  not_a_file: "bad_arguments",
  not_text: "bad_arguments",
  turn_running: "busy",
  queue_full: "busy",
  stopping: "busy",
};

function codeOf({ status, code }: Extract<Failure, { kind: "refused" }>): RefusalCode {
  const known = CODES[code];
  if (known !== undefined) {
    return known;
  }
  if (/too_(?:large|long|deep)$/.test(code)) {
    return "too_large";
  }
  // What lies outside is as good as not there: no grant would help.
  if (/_(?:not_found|gone|deleted)$/.test(code)) {
    return "not_found";
  }
  if (status === 429 || /^too_many|busy/.test(code)) {
    return "busy";
  }
  return status === 400 || /^invalid_|_invalid$/.test(code) ? "bad_arguments" : "failed";
}
