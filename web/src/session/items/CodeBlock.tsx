// A piece of code: what it is written in, the code itself, and a way to take it along. Long code shows its beginning.
import { memo, useMemo, useState } from "react";

import type { Extent } from "../../ui/chunks";
import { beginningOf, extentWords } from "../../ui/chunks";
import { CopyButton } from "../../ui/CopyButton";
import { Chunks } from "../../ui/LongText";
import type { Tokens } from "./highlighter";
import { useCodeTokens } from "./useCodeTokens";
import "./exactText.css";
import "./CodeBlock.css";

/** So much is shown without being asked for. */
const MOST: Extent = { characters: 40_000, lines: 800 };
/** What is longer shows so much. */
const BEGINNING: Extent = { characters: 8_000, lines: 120 };

export function CodeBlock({ language, code: whole }: { language: string | null; code: string }) {
  const [all, setAll] = useState(false);
  const long = useMemo(() => beginningOf(whole, MOST).length < whole.length, [whole]);
  const code = useMemo(() => (long ? beginningOf(whole, BEGINNING) : whole), [whole, long]);
  const coloured = useCodeTokens(code, language);
  return (
    <figure className="code-block" aria-label={language === null ? "Code" : `Code, ${language}`}>
      <figcaption>
        <span>{language ?? "text"}</span>
        <CopyButton text={whole} what="the code" />
      </figcaption>
      {long && all ? (
        <pre tabIndex={0} dir="ltr" className="max-h-[70vh]">
          <code>
            <Chunks text={whole} show={asItIs} />
          </code>
        </pre>
      ) : (
        <pre tabIndex={0} dir="ltr">
          <code>
            {coloured !== null && <Pieces tokens={coloured.tokens} />}
            {coloured === null ? code : code.slice(coloured.code.length)}
            {long && "\n…"}
          </code>
        </pre>
      )}
      {long && (
        <div className="output-more">
          <button type="button" className="small-button" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "Show less" : `Show all ${extentWords(whole)}`}
          </button>
        </div>
      )}
    </figure>
  );
}

function asItIs(text: string): string {
  return text;
}

export const Pieces = memo(function Pieces({ tokens }: { tokens: Tokens }) {
  return tokens.map(([kind, text], index) =>
    kind === null ? (
      text
    ) : (
      <span key={index} className={`code-${kind}`}>
        {text}
      </span>
    ),
  );
});
