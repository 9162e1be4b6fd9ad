// Reads what was used, anew for each range.
import { useEffect, useState } from "react";

import type { Failure } from "../api/http";
import { useHttp } from "../app/AppContext";
import type { UsagePage } from "../wire/usage";
import { rangeOf } from "./days";

export const GROUPINGS = ["day", "agent", "model", "project", "work"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export type Pages = Readonly<Record<Grouping, UsagePage>>;

interface Read {
  readonly days: number;
  readonly pages: Pages | null;
  readonly failure: Failure | null;
}

/** What is shown while another range is read is the one before it. */
export function useUsage(days: number): Read & { busy: boolean } {
  const http = useHttp();
  const [read, setRead] = useState<Read>({ days, pages: null, failure: null });
  useEffect(() => {
    let wanted = true;
    const range = rangeOf(days, Date.now());
    void Promise.all(GROUPINGS.map(async (by) => [by, await http.usage({ by, ...range })] as const)).then((answers) => {
      if (!wanted) {
        return;
      }
      const failed = answers.map(([, answer]) => answer).find((answer) => !answer.ok);
      if (failed !== undefined && !failed.ok) {
        setRead((before) => ({ ...before, days, failure: failed.failure }));
        return;
      }
      const pages = Object.fromEntries(answers.flatMap(([by, answer]) => (answer.ok ? [[by, answer.value]] : []))) as unknown as Pages;
      setRead({ days, pages, failure: null });
    });
    return () => {
      wanted = false;
    };
  }, [http, days]);
  return { ...read, busy: read.days !== days };
}
