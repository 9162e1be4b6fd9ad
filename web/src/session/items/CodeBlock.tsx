// A piece of code: what it is written in, the code itself, and a way to take it along.
import { memo } from "react";

import { CopyButton } from "../../ui/CopyButton";
import type { Tokens } from "./highlighter";
import { useCodeTokens } from "./useCodeTokens";

export function CodeBlock({ language, code }: { language: string | null; code: string }) {
  const coloured = useCodeTokens(code, language);
  return (
    <figure className="code-block" aria-label={language === null ? "Code" : `Code, ${language}`}>
      <figcaption>
        <span>{language ?? "text"}</span>
        <CopyButton text={code} what="the code" />
      </figcaption>
      <pre tabIndex={0} dir="ltr">
        <code>
          {coloured !== null && <Pieces tokens={coloured.tokens} />}
          {coloured === null ? code : code.slice(coloured.code.length)}
        </code>
      </pre>
    </figure>
  );
}

const Pieces = memo(function Pieces({ tokens }: { tokens: Tokens }) {
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
