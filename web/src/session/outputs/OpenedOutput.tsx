// An output that fills the window: all of its text, with a search and a way to any line; or its picture, as large as one likes.
//
// Invariant: Escape closes it and gives the focus back, unless it has words of a search to put away first.
import type { KeyboardEvent, ReactNode } from "react";
import { useId, useRef, useState } from "react";

import { IconButton } from "../../ui/Button";
import { counted } from "../../ui/counted";
import { Exact } from "../../ui/Exact";
import { Icon } from "../../ui/Icon";
import { useMedia } from "../../ui/media";
import { useModal } from "../../ui/modal";
import type { ShownPlace } from "../../ui/place";
import { rangeOf } from "../../ui/place";
import type { Output, SessionId } from "../../wire/names";
import { plainText, terminalLines } from "./ansi";
import { FoundLines } from "./FoundLines";
import { OutputLines } from "./OutputLines";
import { endingWords, languageOf } from "./outputWords";
import { PagedLines } from "./PagedLines";
import { PictureZoom } from "./PictureZoom";
import type { MarkedLines } from "./useLineLinks";
import "./OpenedOutput.css";

export { PagedLines };

/** As it is copied: what a terminal shows, or the text itself. */
export function plainTextOf({ type }: Output, text: string): string {
  return type === "terminal" ? plainText(terminalLines(text)) : text;
}

interface OpenedOutputProps {
  session: SessionId;
  /** The output with the number of lines that its file has now, or with none where that is not known. */
  output: Output;
  name: string;
  detail: string;
  /** All of its text, where that was read at once. */
  text: string | null;
  /** Its picture. */
  source: string | null;
  marking: MarkedLines;
  actions: ReactNode;
  onClose(): void;
}

export function OpenedOutput({ session, output, name, detail, text, source, marking, actions, onClose }: OpenedOutputProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [zoom, setZoom] = useState<ReactNode>(null);
  useModal(element);
  const ending = endingWords(output);
  const whole = output.path ?? output.command ?? "";
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      className="output-window output-card"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header className="output-window-head">
        <div className="min-w-0 flex-1">
          <h2 id={titleId} className="truncate font-semibold">
            {name}
          </h2>
          <p className="output-window-detail">
            {ending !== null && <strong className={ending.failed ? "text-failed" : ""}>{ending.words} · </strong>}
            {marking.said === "" ? detail : <span role="status">{marking.said}</span>}
            {whole !== "" && whole !== name && (
              <span className="output-window-path">
                <Exact text={whole} />
              </span>
            )}
          </p>
        </div>
        {zoom}
        <span className="output-actions max-sm:hidden">{actions}</span>
        <IconButton label="Close" onClick={onClose}>
          <Icon name="close" />
        </IconButton>
      </header>
      {source !== null ? <PictureZoom source={source} name={name} onControls={setZoom} /> : <OpenedText session={session} output={output} name={name} text={text} marking={marking} />}
    </dialog>
  );
}

interface OpenedTextProps {
  session: SessionId;
  output: Output;
  name: string;
  text: string | null;
  marking: MarkedLines;
}

function OpenedText({ session, output, name, text, marking }: OpenedTextProps) {
  const [words, setWords] = useState("");
  // There the field would bring up a keyboard over the text.
  const touch = useMedia("(pointer: coarse)");
  /** A line that was asked for here counts more than what the address asked for before. */
  const [gone, setGone] = useState<ShownPlace | null>(null);
  /** The found line that was gone to. */
  const [at, setAt] = useState<number | null>(null);
  const [line, setLine] = useState("");
  const [refused, setRefused] = useState(false);
  const refusalId = useId();
  const first = output.startLine ?? 1;
  // Of an edited text it is known once the server has counted its lines.
  const last = typeof output.lines === "number" ? first + Math.max(0, output.lines - 1) : null;
  const here: MarkedLines = { ...marking, sought: gone ?? marking.sought };
  const find = (sought: string) => {
    setWords(sought);
    setAt(null);
  };
  const goTo = (number: number) => {
    setGone({ id: output.id, lines: rangeOf(number, number) });
    marking.links.name(number);
  };
  const goToFound = (number: number | null) => {
    setAt(number);
    if (number !== null) {
      goTo(number);
    }
  };
  const escape = (event: KeyboardEvent) => {
    if (event.key === "Escape" && words !== "") {
      event.preventDefault();
      event.stopPropagation();
      find("");
    }
  };
  const label = `Text of ${name}`;
  return (
    <>
      <div className="output-window-tools">
        <label className="output-window-field flex-1">
          <Icon name="search" />
          <input type="search" data-first-focus={touch ? undefined : ""} aria-label={`Find in ${name}`} placeholder="Find lines" maxLength={1000} value={words} onChange={(event) => find(event.target.value)} onKeyDown={escape} />
        </label>
        <form
          className="output-window-field w-32"
          onSubmit={(event) => {
            event.preventDefault();
            const wanted = Number(line);
            const isThere = Number.isInteger(wanted) && wanted >= first && wanted <= (last ?? Infinity);
            setRefused(!isThere);
            if (isThere) {
              find("");
              goTo(wanted);
            }
          }}
        >
          <input
            inputMode="numeric"
            aria-label={last === null ? "Go to line" : `Go to line, ${first} to ${last}`}
            aria-invalid={refused}
            aria-describedby={refused ? refusalId : undefined}
            placeholder="Go to line"
            value={line}
            onChange={(event) => {
              setLine(event.target.value);
              setRefused(false);
            }}
          />
        </form>
      </div>
      {refused && (
        <p id={refusalId} role="alert" className="output-note">
          {linesThere(first, last)}
        </p>
      )}
      {words.trim() !== "" && <FoundLines session={session} output={output} words={words} at={at} onGo={goToFound} />}
      {words.trim() !== "" && at === null ? null : text === null ? (
        <PagedLines session={session} output={output} label={label} marking={here} extent="window" />
      ) : (
        <OutputLines text={text} language={languageOf(output)} first={first} known={output.lines ?? null} terminal={output.type === "terminal"} label={label} marking={here} extent="window" />
      )}
    </>
  );
}

/** What is said to whoever asks for a line that is not there. */
function linesThere(first: number, last: number | null): string {
  if (last === null) {
    return `Lines are numbered from ${first.toLocaleString("en")} on.`;
  }
  const count = last - first + 1;
  const numbered = first === 1 ? "" : `, ${first.toLocaleString("en")} to ${last.toLocaleString("en")}`;
  return `There ${count === 1 ? "is" : "are"} ${counted(count, "line")}${numbered}.`;
}
