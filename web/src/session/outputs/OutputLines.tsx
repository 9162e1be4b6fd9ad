// The text of an output with the numbers of its lines, which stand there before the text comes, so that nothing moves then.
//
// Invariant: every character is text. The room is that of the lines that are known before the text is read, and a text that was
// edited since has as many numbers as it has lines.
import type { CSSProperties } from "react";
import { useEffect, useMemo, useRef, useState } from "react";

import { latePart, useLatePart } from "../../ui/latePart";
import { shown } from "../../ui/shown";
import { Pieces } from "../items/CodeBlock";
import { useCodeTokens } from "../items/useCodeTokens";
import { LineRows } from "./LineRows";
import { countOf } from "./outputWords";
import { scrollToLine } from "./scrollToLine";
import type { MarkedLines } from "./useLineLinks";

/** So many lines are in sight at once until somebody asks for more. */
export const LINES_IN_SIGHT = 20;
/** Reserved where nobody knows how many there will be. */
const USUAL_LINES = 6;

const terminalText = latePart(async () => (await import("./TerminalText")).TerminalText);

/** As part of the transcript, with a limit to its height, or as all that the window shows. */
export type Extent = "card" | "window";

interface OutputLinesProps {
  /** Null until it is read. */
  text: string | null;
  language: string | null;
  /** The number of its first line. */
  first: number;
  /** How many lines it has, if that is known before it is read. */
  known: number | null;
  /** It was printed by a command. */
  terminal: boolean;
  label: string;
  marking: MarkedLines;
  extent: Extent;
}

export function OutputLines({ text, language, first, known, terminal, label, marking: { marked, sought, links }, extent }: OutputLinesProps) {
  const [all, setAll] = useState(false);
  const region = useRef<HTMLPreElement>(null);
  const printer = useLatePart(terminalText, terminal);
  const read = text !== null && (!terminal || printer.kind === "ready");
  const lines = text === null ? (known ?? USUAL_LINES) : Math.max(1, countOf(text));
  useEffect(() => {
    if (region.current !== null && read && sought?.lines) {
      scrollToLine(region.current, sought.lines.first - first);
    }
  }, [read, sought, first]);
  const short = extent === "card" && !all;
  return (
    <>
      <pre
        ref={region}
        tabIndex={0}
        dir="ltr"
        role="region"
        aria-label={label}
        aria-busy={!read}
        className={`output-lines ${extent === "window" ? "output-lines-window" : "output-lines-fixed"}`}
        style={linesStyle(short ? Math.min(lines, LINES_IN_SIGHT) : lines)}
      >
        <LineRows first={first} count={read ? lines : Math.min(lines, LINES_IN_SIGHT)} marked={marked} links={read ? links : null}>
          {text === null ? null : !terminal ? <Coloured text={text} language={language} /> : printer.kind === "ready" && <printer.part text={text} />}
        </LineRows>
      </pre>
      {extent === "card" && lines > LINES_IN_SIGHT && (
        <div className="output-more">
          <button type="button" className="small-button" aria-expanded={all} disabled={!read} onClick={() => setAll(!all)}>
            {all ? "Show less" : `Show all ${lines.toLocaleString("en")} lines`}
          </button>
        </div>
      )}
    </>
  );
}

export function linesStyle(lines: number): CSSProperties {
  return { "--lines": lines } as CSSProperties;
}

function Coloured({ text, language }: { text: string; language: string | null }) {
  const clean = useMemo(() => shown(text).replace(/\n$/, ""), [text]);
  const coloured = useCodeTokens(clean, language);
  return (
    <>
      {coloured !== null && <Pieces tokens={coloured.tokens} />}
      {coloured === null ? clean : clean.slice(coloured.code.length)}
    </>
  );
}
