// Asks what changed, and again whenever the session has changed a file or the reader comes back to the page.
//
// Invariant: what is shown is the answer to what was asked last; a late answer to an earlier question is dropped. What was
// shown stays beside a failure, and while a comment on it is written.
import { use, useCallback, useEffect, useRef, useState } from "react";

import type { Answer, Failure } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { SessionContext } from "../../state/context";
import type { ChangesPage, FileDiff, SessionId } from "../../wire/names";
import { OpenCommentsContext } from "./openComments";

/** What files are compared with. */
export type ChangesSince = { since: string } | { turn: string };

/** Several edits come together. */
const SETTLE_MS = 250;

export interface Asked<T> {
  /** The newest answer that was good. */
  readonly value: T | null;
  /** Why there is none that is newer. */
  readonly failure: Failure | null;
  /** Something newer is asked for once what is known need not stay. */
  readonly waiting: boolean;
}

export function useChanges(session: SessionId, since: ChangesSince, changed: number, held: boolean) {
  const http = useHttp();
  const [looks, setLooks] = useState(0);
  const again = useCallback(() => setLooks((count) => count + 1), []);
  useEffect(() => {
    addEventListener("focus", again);
    return () => removeEventListener("focus", again);
  }, [again]);
  const key = JSON.stringify(since);
  const asked = useRefreshed<ChangesPage>({ ask: () => http.changes(session, since), question: [session, key], again: `${changed} ${looks}`, held });
  return { ...asked, again, looks };
}

interface Rest {
  /** The pages that it comes after. */
  readonly of: readonly FileDiff[];
  readonly pages: readonly FileDiff[];
  readonly failure: Failure | null;
}

/** The first page of a file's diff; the rest is asked for by `more`, and again with the first. */
export function useFileDiff(session: SessionId, path: string, since: ChangesSince, stamp: string) {
  const http = useHttp();
  const { some: held } = use(OpenCommentsContext);
  const key = JSON.stringify(since);
  const [rest, setRest] = useState<Rest | null>(null);
  const [busy, setBusy] = useState(false);
  const asking = useRef(false);
  /** How many pages are shown, of which comparison. */
  const shown = useRef({ key, pages: 1 });
  const page = (after: number) => http.fileDiff(session, path, since, after);
  const readPages = async (): Promise<Answer<readonly FileDiff[]>> => {
    const wanted = shown.current.key === key ? shown.current.pages : 1;
    const pages: FileDiff[] = [];
    for (let after: number | null = 0; after !== null && pages.length < wanted; after = pages.at(-1)?.nextAfter ?? null) {
      const answer: Answer<FileDiff> = await page(after);
      if (!answer.ok) {
        return answer;
      }
      pages.push(answer.value);
    }
    return { ok: true, value: pages };
  };
  const asked = useRefreshed<readonly FileDiff[]>({ ask: readPages, question: [session, path, key], again: stamp, held });
  const first = asked.value;
  const pages = first === null ? [] : [...first, ...(rest?.of === first ? rest.pages : [])];
  const nextAfter = pages.at(-1)?.nextAfter ?? null;
  useEffect(() => {
    shown.current = { key, pages: Math.max(pages.length, 1) };
  }, [key, pages.length]);
  const more = async () => {
    if (first === null || nextAfter === null || asking.current) {
      return;
    }
    asking.current = true;
    setBusy(true);
    const answer = await page(nextAfter);
    asking.current = false;
    setBusy(false);
    setRest((before) => {
      const known = before?.of === first ? before.pages : [];
      return { of: first, pages: answer.ok ? [...known, answer.value] : known, failure: answer.ok ? null : answer.failure };
    });
  };
  return {
    value: pages[0] ?? null,
    failure: asked.failure,
    hunks: pages.flatMap(({ hunks }) => hunks),
    isMore: nextAfter !== null,
    more,
    /** More is on its way. */
    busy,
    moreFailure: rest?.of === first ? (rest?.failure ?? null) : null,
  };
}

interface Wish<T> {
  ask(): Promise<Answer<T>>;
  question: readonly unknown[];
  /** Another one means that the same is asked anew. */
  again: string;
  /** What is known stays as it is for now. */
  held: boolean;
}

/** While another answer to the same question is awaited, the one before stays. */
function useRefreshed<T>({ ask, question, again, held }: Wish<T>): Asked<T> {
  const key = JSON.stringify(question);
  const round = `${key} ${again}`;
  const [known, setKnown] = useState<{ key: string; round: string | null; value: T | null; failure: Failure | null }>({ key, round: null, value: null, failure: null });
  const lookedFor = useRef<string | null>(null);
  const waits = held && known.key === key && known.value !== null;
  useEffect(() => {
    if (waits || known.round === round) {
      return undefined;
    }
    let newest = true;
    const look = () => {
      void ask().then((answer) => {
        if (newest) {
          setKnown((before) =>
            answer.ok ? { key, round, value: answer.value, failure: null } : { key, round, value: before.key === key ? before.value : null, failure: answer.failure },
          );
        }
      });
    };
    const wait = setTimeout(look, lookedFor.current === key ? SETTLE_MS : 0);
    lookedFor.current = key;
    return () => {
      newest = false;
      clearTimeout(wait);
    };
    // `ask` is made anew at every drawing, from what the question says.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [round, waits]);
  return known.key === key ? { value: known.value, failure: known.failure, waiting: waits && known.round !== round } : { value: null, failure: null, waiting: false };
}

/** Grows with every file that the session changes. */
export function newestChange(context: SessionContext | null): number {
  const facts = ["filesEdited", "filesCreated", "filesDeleted"].flatMap((fact) => context?.proofs[fact]?.values ?? []);
  return facts.reduce((newest, { entry }) => Math.max(newest, entry), 0);
}
