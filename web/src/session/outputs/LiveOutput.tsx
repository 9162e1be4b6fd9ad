// What a running command has printed so far: paler than what is stored, and gone when that comes in its place.
//
// Invariant: it follows its end while the reader is at its end, and leaves alone whoever scrolled back.
import { memo, useLayoutEffect, useMemo, useRef } from "react";

import type { LiveOutputItem } from "../../state/liveOutput";
import { Icon } from "../../ui/Icon";
import { latePart, useLatePart } from "../../ui/latePart";
import { inOneLine } from "../../ui/shown";
import { Step } from "../items/Step";
import { LineRows } from "./LineRows";
import { LINES_IN_SIGHT, linesStyle } from "./OutputLines";
import "../items/CodeBlock.css";
import "./OutputCard.css";

const printed = latePart(async () => (await import("./PrintedEnd")).PrintedEnd);
/** So many lines have their numbers, where it is known that they are the first. */
const NUMBERED_LINES = 300;
/** Nearer to the end than this is at the end. */
const END_PX = 24;

export const LiveOutput = memo(function LiveOutput({ item: { command, text, missing } }: { item: LiveOutputItem }) {
  const printer = useLatePart(printed, true);
  const region = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  const name = inOneLine(command) || "Terminal";
  const lines = useMemo(() => Math.max(1, text.split("\n").length - (text.endsWith("\n") ? 1 : 0)), [text]);
  useLayoutEffect(() => {
    const element = region.current;
    if (element !== null && atEnd.current) {
      element.scrollTop = element.scrollHeight;
    }
  });
  const inside = printer.kind === "ready" && <printer.part text={text} />;
  return (
    <Step bead={null}>
      <figure className="code-block output-card output-live @container/output" aria-label={`Running: ${name}`}>
        <figcaption>
          <Icon name="terminal" />
          <span className="output-name" title={name}>
            {name}
          </span>
          <span className="output-detail">
            <span className="text-running">Running…</span>
            {missing && " Earlier lines follow when it is done."}
          </span>
          {/* As high as the head of what is stored. */}
          <span aria-hidden="true" className="output-actions invisible">
            <span className="small-button inline-flex items-center">Open</span>
          </span>
        </figcaption>
        <pre
          ref={region}
          tabIndex={0}
          dir="ltr"
          role="region"
          aria-label={`What ${name} prints`}
          className="output-lines output-lines-fixed"
          style={linesStyle(Math.min(lines, LINES_IN_SIGHT))}
          onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
            atEnd.current = scrollHeight - scrollTop - clientHeight <= END_PX;
          }}
        >
          {missing || lines > NUMBERED_LINES ? (
            <code className="block w-max min-w-full px-3">{inside}</code>
          ) : (
            <LineRows first={1} count={lines} marked={null} links={null}>
              {inside}
            </LineRows>
          )}
        </pre>
        {lines > LINES_IN_SIGHT && (
          // As high as what unfolds the lines once they are stored.
          <div aria-hidden="true" className="output-more invisible">
            <span className="small-button inline-flex items-center">Show all</span>
          </div>
        )}
      </figure>
    </Step>
  );
});
