// What the session's header says of something that was just done: that it failed, or that it is done.
//
// Invariant: a failure is worth saying for as long as the session stands as it stood then; that something is done, for a moment.
import { useEffect, useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import type { SessionRow } from "../wire/names";

const DONE_MS = 4_000;

export interface Report {
  readonly kind: "failed" | "done";
  readonly words: string;
}

export interface Reporting {
  readonly report: Report | null;
  /** Null takes back what was said. */
  fail(failure: Failure | null): void;
  say(report: Report): void;
}

export function useReport({ id, state }: SessionRow): Reporting {
  const standing = `${id} ${state}`;
  const [said, setSaid] = useState<{ report: Report; standing: string } | null>(null);
  const isDone = said?.report.kind === "done";
  useEffect(() => {
    if (!isDone) {
      return undefined;
    }
    const timer = setTimeout(() => setSaid((now) => (now === said ? null : now)), DONE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [said, isDone]);
  return {
    report: said?.standing === standing ? said.report : null,
    fail: (failure) => setSaid(failure === null ? null : { report: { kind: "failed", words: failureWords(failure) }, standing }),
    say: (report) => setSaid({ report, standing }),
  };
}
