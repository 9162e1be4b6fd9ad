// Lines with their numbers: each number is a link to its line, and lines that were asked for stand out.
//
// Invariant: all lines have one height, so what is known of their number is known of their room.
import type { MouseEvent, ReactNode } from "react";
import { memo } from "react";

import type { LineRange } from "../../ui/place";
import type { LineLinks } from "./useLineLinks";

interface LineRowsProps {
  /** The number of the first. */
  first: number;
  count: number;
  marked: LineRange | null;
  /** Null where nothing can be named, as while a command still prints. */
  links: LineLinks | null;
  className?: string;
  style?: React.CSSProperties;
  children: ReactNode;
}

export function LineRows({ first, count, marked, links, className = "", style, children }: LineRowsProps) {
  const from = marked === null ? 0 : Math.max(marked.first, first);
  const to = marked === null ? -1 : Math.min(marked.last, first + count - 1);
  return (
    <span className={`output-rows ${className}`} style={style}>
      {from <= to && <span aria-hidden="true" className="output-mark" style={{ top: `calc(${from - first} * var(--line))`, height: `calc(${to - from + 1} * var(--line))` }} />}
      <Numbers first={first} count={count} from={from} to={to} links={links} />
      <code>{children}</code>
    </span>
  );
}

/** What is not read out must not have the focus. */
function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

/** Not read out and no stops of the Tab key: there are as many as lines. By key a line is named in the opened output. */
const Numbers = memo(function Numbers({ first, count, from, to, links }: { first: number; count: number; from: number; to: number; links: LineLinks | null }) {
  const press = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-line]") : null;
    // With other keys the browser opens the link elsewhere.
    if (link === null || links === null || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    links.press(Number(link.dataset.line), event.shiftKey);
  };
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  return (
    <span aria-hidden="true" className="output-numbers" onMouseDown={keepFocus} onClick={press}>
      {links === null
        ? numbers.join("\n")
        : numbers.map((line) => (
            <a key={line} href={links.hrefOf(line)} data-line={line} data-marked={line >= from && line <= to ? "" : undefined} tabIndex={-1} title={`Link to line ${line}`} draggable={false}>
              {`${line}\n`}
            </a>
          ))}
    </span>
  );
});
