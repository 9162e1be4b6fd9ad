// What a command printed, in the page's own colours.
import { memo, useMemo } from "react";

import type { TerminalLine } from "./ansi";
import { terminalLines } from "./ansi";
import "./TerminalText.css";

export const TerminalText = memo(function TerminalText({ text }: { text: string }) {
  const lines = useMemo(() => terminalLines(text), [text]);
  return <PrintedLines lines={lines} />;
});

/** Line ends stand between them, so that what is marked and copied is the text. */
export const PrintedLines = memo(function PrintedLines({ lines }: { lines: readonly TerminalLine[] }) {
  return lines.map((runs, index) => (
    <span key={index}>
      {runs.map(({ look, text }, at) =>
        look === "" ? (
          text
        ) : (
          <span key={at} className={look}>
            {text}
          </span>
        ),
      )}
      {index < lines.length - 1 && "\n"}
    </span>
  ));
});
