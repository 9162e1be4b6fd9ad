// Finds words in the open session, also in turns that are not drawn, which the browser's own search does not see.
import type { KeyboardEvent, Ref, RefObject } from "react";
import { useEffect, useState } from "react";

import { failureWords } from "../../api/http";
import { IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Marked } from "../../ui/Marked";
import type { SessionId } from "../../wire/names";
import type { FoundWords } from "./found";
import { keepMarked } from "./marks";
import { placeWords, useFind } from "./useFind";
import { wordsOf } from "./words";
import "./FindBar.css";

interface FindBarProps {
  session: SessionId;
  /** The turn that the reader is at. */
  current: number | null;
  /** Where the transcript is drawn. */
  around: RefObject<HTMLElement | null>;
  field: Ref<HTMLInputElement>;
  /** The reader was taken to a turn where it was found; null when nothing is looked for any more. */
  onFound(found: FoundWords | null): void;
  onClose(): void;
}

export function FindBar({ session, current, around, field, onFound, onClose }: FindBarProps) {
  const [query, setQuery] = useState("");
  const [exact, setExact] = useState(false);
  const { found, failure, step } = useFind(session, query, exact, () => current ?? 1);
  const chosen = found?.turns[found.at] ?? null;
  const turn = chosen?.turn ?? null;
  const foundQuery = found?.query ?? "";
  const foundExact = found?.exact ?? false;
  useEffect(() => {
    onFound(turn === null ? null : { turn, query: foundQuery, exact: foundExact });
    return () => onFound(null);
  }, [onFound, turn, foundQuery, foundExact]);
  useEffect(() => {
    const log = around.current?.querySelector("[role=log]");
    return log ? keepMarked(log, wordsOf(query, exact), exact) : undefined;
  }, [around, query, exact]);

  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onClose();
    } else if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      step(event.key === "ArrowUp" || (event.key === "Enter" && event.shiftKey) ? -1 : 1);
    }
  };
  const none = found === null || found.turns.length === 0;
  const words = failure !== null ? failureWords(failure) : found === null ? "" : placeWords(found);
  return (
    <search aria-label="Find in this session" className="border-b border-rule ground-shade" onKeyDown={press}>
      <div className="beside-scrollbar safe-x md:px-8">
        <div className="reading @container md:pl-9">
          <div className="flex flex-wrap items-center gap-x-1 py-1.5">
            <input
              ref={field}
              autoFocus
              type="text"
              aria-label="Find in this session"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              enterKeyHint="search"
              dir="auto"
              placeholder="Find in this session"
              className="min-h-11 min-w-32 flex-1 rounded-lg border border-edge bg-paper px-3 text-base placeholder:text-soft focus-visible:outline-offset-0 md:min-h-9"
              value={query}
              onChange={(event) => setQuery(event.target.value)}
            />
            <p role="status" className={`text-[0.8125rem] text-soft tabular-nums @max-xl:order-3 @max-xl:flex-1 ${words === "" ? "" : "@xl:px-2"}`}>
              {words}
            </p>
            <span aria-hidden="true" className="order-2 w-full @xl:hidden" />
            <IconButton label="Previous turn" className="@max-xl:order-4" disabled={none} onClick={() => step(-1)}>
              <Icon name="up" />
            </IconButton>
            <IconButton label="Next turn" className="@max-xl:order-4" disabled={none} onClick={() => step(1)}>
              <Icon name="down" />
            </IconButton>
            <button
              type="button"
              aria-pressed={exact}
              title="The text exactly as it stands, also inside of words"
              className={`min-h-11 shrink-0 rounded-lg px-3 text-sm @max-xl:order-4 md:min-h-9 ${exact ? "bg-ink text-paper" : "text-soft hover:bg-press hover:text-ink"}`}
              onClick={() => setExact(!exact)}
            >
              Exact
            </button>
            <IconButton label="Close" className="@max-xl:order-1 md:-mr-2.5" onClick={onClose}>
              <Icon name="close" />
            </IconButton>
            {found?.notes.map((note) => (
              <p key={note} className="order-last w-full pt-1 text-[0.8125rem] text-soft italic">
                {note}
              </p>
            ))}
            {/* The words may stand in a card that is folded: here they are in any case. */}
            {chosen?.snippet && (
              <p dir="auto" className="order-last line-clamp-2 w-full pt-1 pb-0.5 text-[0.8125rem] text-soft">
                t{chosen.turn} · <Marked text={chosen.snippet.text} ranges={chosen.snippet.highlights} />
              </p>
            )}
          </div>
        </div>
      </div>
    </search>
  );
}
