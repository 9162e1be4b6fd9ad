// The newest lines that a command has printed; lines that did not change are not drawn again.
import { memo, useMemo } from "react";

import type { TerminalLine } from "./ansi";
import { terminalLines } from "./ansi";
import { PrintedLines } from "./TerminalText";

/** So many are drawn; a reader who wants those before them waits for what is stored. */
const MOST_LINES = 300;

export const PrintedEnd = memo(function PrintedEnd({ text }: { text: string }) {
  const lines = useMemo(() => terminalLines(endOf(text)), [text]);
  return (
    <>
      {lines.map((line, index) => (
        <OneLine key={index} line={line} />
      ))}
    </>
  );
});

const OneLine = memo(
  function OneLine({ line }: { line: TerminalLine }) {
    return (
      <>
        <PrintedLines lines={[line]} />
        {"\n"}
      </>
    );
  },
  (before, after) => before.line.length === after.line.length && before.line.every(({ look, text }, at) => look === after.line[at]?.look && text === after.line[at].text),
);

function endOf(text: string): string {
  let from = text.length;
  for (let lines = 0; lines <= MOST_LINES && from > 0; lines++) {
    from = text.lastIndexOf("\n", from - 1);
    if (from < 0) {
      return text;
    }
  }
  return text.slice(from + 1);
}
