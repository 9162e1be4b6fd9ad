// A long text, of which only the lines in sight are read and drawn.
//
// Invariant: it has the height of all its lines from the beginning, so that nothing moves when they come and the bar says where
// the reader is.
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { LineRange } from "../../ui/place";
import { shown } from "../../ui/shown";
import type { Output, OutputLine, SessionId } from "../../wire/names";
import type { TerminalLine } from "./ansi";
import { plainText, terminalLines } from "./ansi";
import { LineRows } from "./LineRows";
import type { Extent } from "./OutputLines";
import { LINES_IN_SIGHT, linesStyle } from "./OutputLines";
import { scrollToLine } from "./scrollToLine";
import { PrintedLines } from "./TerminalText";
import type { LineLinks, MarkedLines } from "./useLineLinks";
import type { LinesPage, Pages } from "./usePages";
import { PAGE_LINES, usePages } from "./usePages";

/** Browsers draw nothing that is taller than about so many lines. */
export const MOST_SCROLLED = 1_000_000;

interface PagedLinesProps {
  session: SessionId;
  /** The output with the number of lines that its file has now, or with none where that is not known. */
  output: Output;
  label: string;
  marking: MarkedLines;
  extent: Extent;
}

export function PagedLines({ session, output, label, marking: { marked, sought, links }, extent }: PagedLinesProps) {
  const pages = usePages(session, output.id);
  const region = useRef<HTMLPreElement>(null);
  const [inView, setInView] = useState({ from: 0, to: 0 });
  const first = output.startLine ?? 1;
  const lineCount = countOfLines(output.lines ?? null, pages, inView.to);
  const total = Math.min(lineCount, MOST_SCROLLED);
  const lastPage = Math.max(0, Math.ceil(total / PAGE_LINES) - 1);

  const look = () => {
    const element = region.current;
    const linePx = element === null ? 0 : parseFloat(getComputedStyle(element).lineHeight);
    if (element === null || !(linePx > 0)) {
      return;
    }
    const pageOf = (px: number) => Math.max(0, Math.floor(px / linePx / PAGE_LINES));
    const from = Math.min(pageOf(element.scrollTop), lastPage);
    const to = Math.min(pageOf(element.scrollTop + element.clientHeight), lastPage);
    setInView((before) => (before.from === from && before.to === to ? before : { from, to }));
  };
  useLayoutEffect(() => {
    if (region.current !== null && sought?.lines) {
      scrollToLine(region.current, sought.lines.first - first);
    }
  }, [sought, first]);
  // After the room has changed as well.
  useEffect(look);
  const { want, end, furthest } = pages;
  useEffect(() => want(inView.from, inView.to), [want, inView]);
  // All lines that were counted have come, in full pages: the text may have grown since, and only the page after them says so.
  const mayHaveGrown = end === null && output.lines === furthest;
  useEffect(() => {
    if (mayHaveGrown) {
      want(furthest / PAGE_LINES, furthest / PAGE_LINES);
    }
  }, [want, mayHaveGrown, furthest]);

  const drawn = Array.from({ length: inView.to - inView.from + 1 }, (_, index) => inView.from + index);
  const lost = drawn.map(pages.at).find((page) => page?.kind === "failed" && page.isLost);
  return (
    <>
      <pre
        ref={region}
        tabIndex={0}
        dir="ltr"
        role="region"
        aria-label={label}
        aria-busy={drawn.some((page) => pages.at(page)?.kind !== "ready")}
        className={`output-lines ${extent === "window" ? "output-lines-window" : "output-lines-fixed"}`}
        style={linesStyle(Math.min(total, LINES_IN_SIGHT))}
        onScroll={look}
      >
        {lost?.kind !== "failed" ? (
          <span className="output-pages" style={{ height: `calc(${total} * var(--line))` }}>
            {drawn.map((page) => (
              <Page key={page} page={page} lines={pages.at(page)} total={total} first={first} terminal={output.type === "terminal"} marked={marked} links={links} onRetry={() => pages.retry(page)} />
            ))}
          </span>
        ) : (
          <span className="output-note block">{lost.words}</span>
        )}
      </pre>
      {lineCount > MOST_SCROLLED && <p className="output-note">Only the first {MOST_SCROLLED.toLocaleString("en")} lines can be scrolled through. Find others by their words, or download all of it.</p>}
    </>
  );
}

/**
 * How many lines there are. What was read counts more than the number that was asked for before it: the file may have been edited
 * in between. Where neither says it, there is room for a page more than is in view; so there is where the page after those that
 * were counted could not be read, which can be tried again there.
 */
function countOfLines(known: number | null, { at, end, furthest }: Pages, lastInView: number): number {
  if (end !== null) {
    return end;
  }
  const counts = known !== null && known >= furthest && at(known / PAGE_LINES)?.kind !== "failed";
  return counts ? known : (lastInView + 2) * PAGE_LINES;
}

interface PageProps {
  page: number;
  lines: LinesPage | undefined;
  total: number;
  first: number;
  terminal: boolean;
  marked: LineRange | null;
  links: LineLinks;
  onRetry(): void;
}

function Page({ page, lines, total, first, terminal, marked, links, onRetry }: PageProps) {
  const before = page * PAGE_LINES;
  const count = lines?.kind === "ready" ? lines.lines.length : Math.min(PAGE_LINES, total - before);
  return (
    <LineRows first={first + before} count={count} marked={marked} links={links} className="output-page" style={{ top: `calc(${before} * var(--line))` }}>
      {lines?.kind === "ready" && <PageText lines={lines.lines} terminal={terminal} />}
      {lines?.kind === "failed" && (
        <span role="alert" className="font-sans text-soft">
          {lines.words}{" "}
          <button type="button" className="small-button mx-0!" onClick={onRetry}>
            Try again
          </button>
        </span>
      )}
    </LineRows>
  );
}

const PageText = memo(function PageText({ lines, terminal }: { lines: readonly OutputLine[]; terminal: boolean }) {
  const printed = useMemo(() => (terminal ? printedPage(lines) : null), [lines, terminal]);
  return printed === null ? lines.map(textOf).join("\n") : <PrintedLines lines={printed} />;
});

/** Colours last from line to line, and end with the page. */
function printedPage(lines: readonly OutputLine[]): TerminalLine[] {
  const printed = terminalLines(lines.map(({ text }) => text).join("\n"));
  return lines.map(({ cut }, index) => [...(printed[index] ?? []), ...(cut === true ? [{ look: "", text: CUT }] : [])]);
}

/** After a line of which only the beginning comes. */
const CUT = " … (the rest of this line is in the download)";

function textOf({ text, cut }: OutputLine): string {
  return shown(text) + (cut === true ? CUT : "");
}

/** As it is shown where a line is found by its words. */
export function lineWords(line: OutputLine, terminal: boolean): string {
  return terminal ? plainText(terminalLines(line.text)) : textOf(line);
}
