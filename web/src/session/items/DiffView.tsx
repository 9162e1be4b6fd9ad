// What changed in a file: signs and shades for what was added and removed; a long change shows its beginning first.
import { memo, useState } from "react";

import { Chunks } from "../../ui/LongText";
import { shown } from "../../ui/shown";
import type { Diff, DiffLine } from "./lineDiff";
import "./exactText.css";
import "./CodeBlock.css";
import "./DiffView.css";

const SHOWN_LINES = 16;
/** So many come with a press: each line is an element of its own. */
const MORE_LINES = 2_000;
/** What is longer shows its beginning. */
const MOST_LETTERS = 4_000;
/** So few more would be that a button for them helps nobody. */
const SPARE_LINES = 8;

interface DiffViewProps {
  path: string;
  /** The path stands above it already. */
  named: boolean;
  diff: Diff;
  isNew: boolean;
  /** All of it was asked for already. */
  unfolded: boolean;
}

export const DiffView = memo(function DiffView({ path, named, diff, isNew, unfolded }: DiffViewProps) {
  const [most, setMost] = useState(unfolded ? MORE_LINES : SHOWN_LINES);
  const count = diff.lines.length;
  const long = count > SHOWN_LINES + SPARE_LINES;
  const lines = long ? diff.lines.slice(0, most) : diff.lines;
  const all = most >= count;
  return (
    <figure className="diff" aria-label={`Change of ${path}`}>
      <figcaption>
        {!named && <span className="verbatim min-w-0 font-mono">{shown(path)}</span>}
        <span className="shrink-0 tabular-nums">
          {isNew ? "new, " : ""}
          <span className="diff-count">+{diff.added}</span> <span className="diff-count">−{diff.removed}</span>
          <span className="sr-only"> lines</span>
        </span>
      </figcaption>
      <div className="diff-lines" tabIndex={0} role="region" aria-label="Changed lines" dir="ltr">
        {lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
        {diff.lines.length === 0 && <div className="diff-gap">Nothing changed</div>}
      </div>
      {long && (
        <div className="output-more">
          <button
            type="button"
            className="small-button"
            aria-expanded={most > SHOWN_LINES}
            onClick={() => setMost(all ? SHOWN_LINES : Math.min(count, most === SHOWN_LINES ? MORE_LINES : most + MORE_LINES))}
          >
            {all ? "Show less" : count <= MORE_LINES ? `Show all ${count.toLocaleString("en")} lines` : `Show more of the ${count.toLocaleString("en")} lines`}
          </button>
        </div>
      )}
    </figure>
  );
});

const SIGNS = { same: " ", added: "+", removed: "−" };
const SAID = { same: "", added: "Added: ", removed: "Removed: " };

function Line({ line }: { line: DiffLine }) {
  if (line.kind === "gap") {
    return (
      <div className="diff-gap">
        {line.count.toLocaleString("en")} unchanged {line.count === 1 ? "line" : "lines"}
      </div>
    );
  }
  return (
    <div className={`diff-line diff-${line.kind}`}>
      <span aria-hidden="true" className="select-none">
        {SIGNS[line.kind]}
      </span>
      <span>
        {line.kind !== "same" && <span className="sr-only">{SAID[line.kind]}</span>}
        <LineText text={line.text} />
      </span>
    </div>
  );
}

function LineText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  if (text.length <= MOST_LETTERS) {
    return shown(text);
  }
  return (
    <>
      {all ? <Chunks text={text} show={shown} /> : shown(text.slice(0, MOST_LETTERS))}{" "}
      <button type="button" className="small-button" aria-expanded={all} onClick={() => setAll(!all)}>
        {all ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
      </button>
    </>
  );
}
