// Why an applet does not get what it asked for, in the words of the bridge.
import type { Failure } from "../../api/http";
import { failureWords } from "../../api/http";

export type RefusalCode = "not_granted" | "bad_arguments" | "conflict" | "too_large" | "not_found" | "busy" | "read_only" | "unknown_tool" | "timeout";

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

/** Over the WebSocket there is no status. */
function codeOf({ status, code }: Extract<Failure, { kind: "refused" }>): RefusalCode {
  if (status === 409 || status === 412 || /conflict|precondition|stale/.test(code)) {
    return "conflict";
  }
  if (status === 413 || /too_(?:large|long|deep)/.test(code)) {
    return "too_large";
  }
  if (code === "not_granted") {
    return "not_granted";
  }
  // What lies outside is as good as not there: no grant would help.
  if (status === 403 || status === 404 || status === 410 || /not_found$|^no_/.test(code)) {
    return "not_found";
  }
  if (status === 429 || status === 503 || /busy|too_many/.test(code)) {
    return "busy";
  }
  return "bad_arguments";
}
