// The lines of an output that hold some words; a press on one goes to it, and from there on to the next and the previous one.
import { useEffect, useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { counted } from "../../ui/counted";
import type { Output, OutputLine, SessionId } from "../../wire/names";
import { lineWords } from "./PagedLines";

/** So many come at once. */
const MOST_LINES = 200;
/** The search begins when the hands rest for so long. */
const REST_MS = 200;
/** Of a very long line, so much is shown around what was found. */
const AROUND = 160;

interface FoundLinesProps {
  session: SessionId;
  output: Output;
  words: string;
  /** The found line that was gone to, by the number that it is shown with; null while the lines are listed. */
  at: number | null;
  /** By the number that the line is shown with; null leads back to the list. */
  onGo(line: number | null): void;
}

interface Found {
  words: string;
  lines: readonly OutputLine[];
  next: number | null;
  failure: string | null;
}

export function FoundLines({ session, output, words, at, onGo }: FoundLinesProps) {
  const http = useHttp();
  const [found, setFound] = useState<Found | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  const { id } = output;
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(
      () =>
        void http.outputLines(session, id, { grep: words, limit: MOST_LINES, ...(from === null ? {} : { first: from }) }, stop.signal).then((answer) => {
          if (stop.signal.aborted) {
            return;
          }
          setFound((before) => {
            const earlier = from === null || before?.words !== words ? [] : before.lines;
            return answer.ok ? { words, lines: [...earlier, ...answer.value.lines], next: answer.value.next ?? null, failure: null } : { words, lines: earlier, next: null, failure: failureWords(answer.failure) };
          });
        }),
      from === null ? REST_MS : 0,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [http, session, id, words, from]);
  // What was asked for further on belongs to the words of then.
  const [of, setOf] = useState(words);
  if (of !== words) {
    setOf(words);
    setFrom(null);
  }
  const first = output.startLine ?? 1;
  const terminal = output.type === "terminal";
  const now = found?.words === words ? found : null;
  const lines = now?.lines ?? [];
  const index = at === null ? -1 : lines.findIndex(({ number }) => first + number - 1 === at);
  if (now !== null && index >= 0) {
    const step = (by: number) => {
      const line = lines[(index + by + lines.length) % lines.length];
      if (line !== undefined) {
        onGo(first + line.number - 1);
      }
      // The next ones are read before the last one that is known is left.
      if (now.next !== null && index + by >= lines.length - 2) {
        setFrom(now.next);
      }
    };
    return (
      <div className="output-found-steps">
        <p role="status">{`Found line ${index + 1} of ${counted(lines.length, "line")}${now.next === null ? "" : " so far"}`}</p>
        <button type="button" className="small-button" onClick={() => step(-1)}>
          Previous
        </button>
        {/* The line that was pressed is gone. */}
        <button type="button" className="small-button" autoFocus onClick={() => step(1)}>
          Next
        </button>
        <button type="button" className="small-button" onClick={() => onGo(null)}>
          List them
        </button>
      </div>
    );
  }
  return (
    <div className="output-found" aria-busy={now === null}>
      <p role="status" className="output-note">
        {now === null ? "Looking…" : (now.failure ?? (now.lines.length === 0 ? "No line holds these words." : `${counted(now.lines.length, "line")}${now.next === null ? "" : " so far"}`))}
      </p>
      <ul>
        {now?.lines.map((line) => {
          const number = first + line.number - 1;
          return (
            <li key={line.number}>
              <button type="button" dir="ltr" onClick={() => onGo(number)}>
                <span className="output-found-number">{number}</span>
                <FoundText text={lineWords(line, terminal)} words={words} />
              </button>
            </li>
          );
        })}
      </ul>
      {now !== null && now.next !== null && (
        <button type="button" className="small-button mx-2!" onClick={() => setFrom(now.next)}>
          Show more
        </button>
      )}
    </div>
  );
}

function FoundText({ text, words }: { text: string; words: string }) {
  const at = text.toLowerCase().indexOf(words.toLowerCase());
  const from = at > AROUND ? at - AROUND / 2 : 0;
  const to = Math.min(text.length, Math.max(at, 0) + words.length + AROUND);
  return (
    <span className="min-w-0 overflow-hidden text-ellipsis">
      {from > 0 && "…"}
      {at < 0 ? (
        text.slice(0, to)
      ) : (
        <>
          {text.slice(from, at)}
          <mark>{text.slice(at, at + words.length)}</mark>
          {text.slice(at + words.length, to)}
        </>
      )}
      {to < text.length && "…"}
    </span>
  );
}
