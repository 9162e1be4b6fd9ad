// A call of which some is kept beside the log: its beginning at once, and all of it when it is asked for.
//
// Invariant: what is missing is marked in its place, so that nobody takes a beginning for the whole. One button shows all of it,
// unfolded, and names the size of what it shows.
import type { ReactNode } from "react";
import { use, useEffect, useMemo, useRef, useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { BodyTexts } from "../../state/bodies";
import { isOfValue, textBodies, withBodies } from "../../state/bodies";
import type { ToolCall } from "../../state/transcript";
import type { BodyRef } from "../../wire/names";
import { sizeWords } from "../outputs/outputWords";
import { ItemsSessionContext } from "./ItemsSessionContext";
import type { Folding } from "./Output";

type Reading = { kind: "not_asked" } | { kind: "on_its_way" } | { kind: "failed"; words: string };

const NONE: BodyTexts = new Map();

/** How what the call was given, what it gave, or one of the things that it shows is folded. */
export type FoldingOf = (of: "input" | "output" | "shown", item: number) => Folding;

interface WholeCallProps {
  call: ToolCall;
  /** All of it is read at once: somebody decides by it. */
  atOnce?: boolean;
  /** Whether a body is of something that is drawn; the others are not read. */
  isDrawn?: (call: ToolCall, body: BodyRef) => boolean;
  children(call: ToolCall, foldingOf: FoldingOf): ReactNode;
}

export function WholeCall({ call, atOnce = false, isDrawn = always, children }: WholeCallProps) {
  const http = useHttp();
  const session = use(ItemsSessionContext);
  const [texts, setTexts] = useState(NONE);
  const [reading, setReading] = useState<Reading>({ kind: "not_asked" });
  const shown = useMemo(() => withBodies(call, texts, gapWords), [call, texts]);
  const missing = textBodies(shown).filter((body) => typeof body.sha256 === "string" && isDrawn(shown, body));
  const bytes = missing.reduce((sum, body) => sum + body.bytes, 0);
  const read = async () => {
    if (session === null) {
      return;
    }
    setReading({ kind: "on_its_way" });
    const found = new Map(texts);
    for (const { sha256 } of missing) {
      if (typeof sha256 === "string" && !found.has(sha256)) {
        const answer = await http.body(session, sha256);
        if (!answer.ok) {
          setTexts(found);
          setReading({ kind: "failed", words: answer.failure.kind === "refused" && answer.failure.status === 410 ? "The rest is gone: its file was moved, removed or edited." : failureWords(answer.failure) });
          return;
        }
        found.set(sha256, await (answer.value as unknown as Blob).text());
      }
    }
    setTexts(found);
    setReading({ kind: "not_asked" });
  };
  // What cannot be read must not keep the beginning folded.
  const folding = missing.length === 0 ? (texts.size > 0 ? "unfolded" : "own") : reading.kind === "failed" ? "own" : "beginning";
  const foldingOf = useMemo<FoldingOf>(() => {
    const bodies = textBodies(call).filter(({ sha256 }) => typeof sha256 === "string");
    return (of, item) => (bodies.some((body) => (isOfValue(body.of) ? body.of : "shown") === of && (body.item ?? 0) === item) ? folding : "own");
  }, [call, folding]);
  const wanted = atOnce && missing.length > 0;
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  useEffect(() => {
    if (wanted) {
      void latest.current();
    }
  }, [wanted]);
  return (
    <>
      {children(shown, foldingOf)}
      {missing.length > 0 && (
        <p className="output-more text-[0.8125rem] text-soft">
          <button type="button" className="small-button" disabled={reading.kind === "on_its_way"} onClick={() => void read()}>
            {reading.kind === "on_its_way" ? "Reading…" : `Show all (${sizeWords(bytes)})`}
          </button>
          {reading.kind === "failed" && <span role="alert"> {reading.words}</span>}
        </p>
      )}
    </>
  );
}

function always(): boolean {
  return true;
}

function gapWords(body: BodyRef, headLength: number): string {
  const rest = sizeWords(Math.max(0, body.bytes - headLength));
  return typeof body.sha256 === "string" ? `\n… ${rest} more …\n` : `\n… ${rest} more were not kept …\n`;
}
