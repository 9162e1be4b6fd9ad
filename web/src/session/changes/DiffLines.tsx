// The lines of a diff, in one column or two; a line, or several, can be chosen and commented on.
//
// Invariant: the lines are one stop of the Tab key. Arrows go from line to line, with Shift they choose several, Enter
// begins a comment. What is written goes into the composer and nowhere else, with the lines that were chosen, whatever
// stands in their place by then.
import type { FormEvent, KeyboardEvent, MouseEvent, ReactNode } from "react";
import { Fragment, memo, use, useEffect, useId, useRef, useState } from "react";

import { Button } from "../../ui/Button";
import { shown } from "../../ui/shown";
import type { NumberedLine } from "./diffRows";
import { placeOfLines, positionOf, splitRows } from "./diffRows";
import { OpenCommentsContext } from "./openComments";

/** How long it is said that a comment was added. */
const SAID_MS = 6_000;

interface DiffLinesProps {
  name: string;
  lines: readonly NumberedLine[];
  split: boolean;
  /** Null where nothing can be written. */
  onComment: ((lines: readonly NumberedLine[], comment: string) => void) | null;
}

/** The lines from one to another, in either order. */
interface Chosen {
  readonly from: NumberedLine;
  readonly to: NumberedLine;
  readonly lines: readonly NumberedLine[];
}

export function DiffLines({ name, lines, split, onComment }: DiffLinesProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [writing, setWriting] = useState(false);
  const [added, setAdded] = useState(0);
  const last = lines.length - 1;
  // Where the chosen lines stand now; none of them does where the diff is another by now.
  const from = chosen === null ? null : positionOf(lines, chosen.from);
  const to = chosen === null ? null : positionOf(lines, chosen.to);
  const [low, high] = from === null || to === null ? [-1, -2] : [Math.min(from, to), Math.max(from, to)];
  const current = to === null ? undefined : lines[to];
  const choose = (at: number, extend: boolean) => {
    const begin = extend && from !== null ? from : at;
    const [first, end] = [lines[begin], lines[at]];
    if (first !== undefined && end !== undefined) {
      setChosen({ from: first, to: end, lines: lines.slice(Math.min(begin, at), Math.max(begin, at) + 1) });
    }
  };
  const { begin } = use(OpenCommentsContext);
  useEffect(() => (writing ? begin() : undefined), [writing, begin]);
  // It is news for a moment; later the prompt may be sent, or the comment taken out of it.
  useEffect(() => {
    if (added === 0) {
      return undefined;
    }
    const timer = setTimeout(() => setAdded(0), SAID_MS);
    return () => clearTimeout(timer);
  }, [added]);

  useEffect(() => {
    if (current !== undefined) {
      list.current?.querySelector(`[data-line="${current.index}"]`)?.scrollIntoView({ block: "nearest" });
    }
  }, [current]);

  const press = (event: KeyboardEvent) => {
    const at = to ?? -1;
    const next = { ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      choose(next, event.shiftKey);
    } else if (event.key === "Enter" && current !== undefined && onComment !== null) {
      event.preventDefault();
      setWriting(true);
    } else if (event.key === "Escape" && chosen !== null) {
      event.stopPropagation();
      setChosen(null);
      setWriting(false);
    }
  };
  const click = (event: MouseEvent) => {
    const line = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-line]") : null;
    // Whoever marks text with the mouse wants to copy it.
    if (line === null || getSelection()?.isCollapsed === false) {
      return;
    }
    choose(Number(line.dataset.line), event.shiftKey);
    setWriting(onComment !== null);
  };
  const draw = (line: NumberedLine, numbers: ReactNode) => (
    <Line key={`${line.index}`} id={id} line={line} numbers={numbers} isChosen={line.index >= low && line.index <= high} />
  );
  return (
    <div className="change-diff">
      <div
        ref={list}
        role="listbox"
        aria-multiselectable="true"
        aria-label={`Lines of ${name}`}
        aria-activedescendant={current === undefined ? undefined : `${id}-${current.index}`}
        tabIndex={0}
        dir="ltr"
        className={split ? "change-lines change-split" : "change-lines"}
        onKeyDown={press}
        onClick={click}
      >
        {split
          ? splitRows(lines).map(({ old, new: now }, at, rows) => (
              // Not the keys of the unified lines: those have two numbers each.
              <Fragment key={`split ${at}`}>
                {isGap(rows[at - 1]?.new ?? rows[at - 1]?.old ?? null, now ?? old) && <Gap />}
                {old === null ? <Hole /> : draw(old, <LineNumber of={old.oldNumber} />)}
                {now === null ? <Hole /> : now === old ? <Same line={now} /> : draw(now, <LineNumber of={now.newNumber} />)}
              </Fragment>
            ))
          : lines.map((line, at) => (
              <Fragment key={line.index}>
                {isGap(lines[at - 1] ?? null, line) && <Gap />}
                {draw(
                  line,
                  <>
                    <LineNumber of={line.oldNumber} />
                    <LineNumber of={line.newNumber} />
                  </>,
                )}
              </Fragment>
            ))}
      </div>
      <p role="status" className="text-[0.8125rem] text-soft">
        {added > 0 && !writing && (added === 1 ? "The comment is in your prompt." : `${added} comments are in your prompt.`)}
      </p>
      {writing && chosen !== null && onComment !== null && (
        <Comment
          key={`${chosen.lines[0]?.index}`}
          place={`${name}:${placeOfLines(chosen.lines)}`}
          onAdd={(words) => {
            onComment(chosen.lines, words);
            setAdded(added + 1);
            setWriting(false);
            setChosen(null);
            list.current?.focus();
          }}
          onCancel={() => {
            setWriting(false);
            list.current?.focus();
          }}
        />
      )}
    </div>
  );
}

function isGap(before: NumberedLine | null, line: NumberedLine | null): boolean {
  return before !== null && line !== null && before.hunk !== line.hunk;
}

const SIGNS = { same: " ", added: "+", removed: "−" };
const SAID = { same: "", added: "Added: ", removed: "Removed: " };

interface LineProps {
  id: string;
  line: NumberedLine;
  numbers: ReactNode;
  isChosen: boolean;
}

const Line = memo(function Line({ id, line, numbers, isChosen }: LineProps) {
  return (
    <div role="option" id={`${id}-${line.index}`} data-line={line.index} aria-selected={isChosen} className={`change-line change-${line.kind}`}>
      {numbers}
      <span aria-hidden="true" className="select-none">
        {SIGNS[line.kind]}
      </span>
      <span className="change-text">
        {line.kind !== "same" && <span className="sr-only">{SAID[line.kind]}</span>}
        {shown(line.text)}
      </span>
    </div>
  );
}, isDrawn);

/** The numbers follow from the line. */
function isDrawn(before: LineProps, after: LineProps): boolean {
  return before.id === after.id && before.line.text === after.line.text && before.line.kind === after.line.kind && before.line.index === after.line.index && before.line.oldNumber === after.line.oldNumber && before.line.newNumber === after.line.newNumber && before.isChosen === after.isChosen;
}

/** The same line once more: it is chosen on the left. */
function Same({ line }: { line: NumberedLine }) {
  return (
    <div aria-hidden="true" data-line={line.index} className="change-line change-same">
      <LineNumber of={line.newNumber} />
      <span> </span>
      <span className="change-text">{shown(line.text)}</span>
    </div>
  );
}

function LineNumber({ of }: { of: number | null }) {
  return (
    <span aria-hidden="true" className="change-number">
      {of ?? ""}
    </span>
  );
}

function Hole() {
  return <div aria-hidden="true" className="change-hole" />;
}

function Gap() {
  return (
    <div aria-hidden="true" className="change-gap">
      ⋯
    </div>
  );
}

interface CommentProps {
  place: string;
  onAdd(words: string): void;
  onCancel(): void;
}

function Comment({ place, onAdd, onCancel }: CommentProps) {
  const [words, setWords] = useState("");
  const add = (event?: FormEvent) => {
    event?.preventDefault();
    if (words.trim() !== "") {
      onAdd(words);
    }
  };
  return (
    <form aria-label={`Comment on ${place}`} className="change-comment" onSubmit={add}>
      <textarea
        autoFocus
        aria-label={`Comment on ${place}`}
        placeholder={`Comment on ${place}`}
        rows={2}
        className="block w-full rounded-lg border border-edge bg-paper px-2.5 py-1.5 text-[0.9375rem] placeholder:text-soft"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            add();
          } else if (event.key === "Escape") {
            event.stopPropagation();
            event.preventDefault();
            onCancel();
          }
        }}
      />
      <div className="mt-2 flex gap-2">
        <Button type="submit" disabled={words.trim() === ""} className="md:pointer-fine:min-h-8!">
          Add to the prompt
        </Button>
        <Button look="quiet" className="md:pointer-fine:min-h-8!" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
