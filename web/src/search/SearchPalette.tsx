// The palette: searches everything as it is typed, and without words offers sessions and commands.
//
// Invariant: the focus stays in the field; the arrow keys choose among everything listed, Enter takes the chosen one.
import type { KeyboardEvent } from "react";
import { useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { failureWords } from "../api/http";
import { useAppState } from "../app/AppContext";
import { listedRows } from "../state/sessionList";
import { Alert } from "../ui/Alert";
import { IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Palette } from "../ui/Palette";
import { navigate } from "../ui/navigation";
import { placeOf, seek } from "../ui/place";
import { optionId, useSuggesting } from "../ui/suggestions";
import { useNow } from "../ui/time";
import type { Command, Item } from "./items";
import { foundWords, groupsOf, resultHref } from "./items";
import { PaletteList } from "./PaletteList";
import type { Completion } from "./query";
import { completionsAt, FILTERS, withFilter } from "./query";
import { forgetSearches, recentSearches, rememberSearch } from "./recent";
import { useKnownValues } from "./useKnownValues";
import { useSearch } from "./useSearch";

interface SearchPaletteProps {
  commands: readonly Command[];
  onClose(): void;
}

export default function SearchPalette({ commands, onClose }: SearchPaletteProps) {
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState("");
  const [caret, setCaret] = useState(0);
  const [exact, setExact] = useState(false);
  const [recent, setRecent] = useState(recentSearches);
  const list = useAppState((state) => state.list);
  const sessions = useMemo(() => listedRows(list), [list]);
  const works = useAppState((state) => state.works);
  const now = useNow();
  const known = useKnownValues(sessions, works, now);
  const { found, failure, busy, more } = useSearch({ query, exact });
  const completions = useMemo(() => (exact ? [] : completionsAt(query, caret, known)), [query, caret, known, exact]);
  const groups = useMemo(
    () => groupsOf({ query, completions, recent, commands, sessions, page: found?.page ?? null }),
    [query, completions, recent, commands, sessions, found],
  );
  const items = useMemo(() => groups.flatMap((group) => group.items), [groups]);
  // What completes the query is for the Tab key; Enter goes to the first thing that was found.
  const firstFound = items.findIndex(({ kind }) => kind !== "completion");
  const suggesting = useSuggesting(items, items.length === 0 ? null : Math.max(firstFound, 0));

  const write = (text: string, at = text.length) => {
    setQuery(text);
    setCaret(at);
    field.current?.focus();
    // The field has its new words with the next drawing.
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };
  const complete = (completion: Completion) => {
    write(completion.query, completion.caret);
  };
  const go = (href: string, elsewhere: boolean) => {
    if (query.trim() !== "") {
      rememberSearch(query);
    }
    if (elsewhere) {
      window.open(href, "_blank", "noopener");
      return;
    }
    onClose();
    navigate(href);
    // The session may be open already; then nothing but the place changes.
    const place = placeOf(location.hash);
    if (place !== null) {
      seek(place);
    }
  };
  const take = (item: Item, elsewhere: boolean) => {
    switch (item.kind) {
      case "completion":
        complete(item.completion);
        return;
      case "recent":
        write(item.query);
        return;
      case "command":
        // Under an open dialog nothing can take the focus, and one that closes gives it back to what had it before.
        flushSync(onClose);
        item.command.run();
        return;
      case "session":
        go(`/s/${item.row.id}`, elsewhere);
        return;
      case "result":
        go(resultHref(item.result), elsewhere);
        return;
      case "more":
        more();
        return;
    }
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    const chosen = suggesting.chosen === null ? undefined : items[suggesting.chosen];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      suggesting.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      setExact(!exact);
    } else if (event.key === "Enter" && chosen !== undefined) {
      event.preventDefault();
      take(chosen, event.ctrlKey || event.metaKey);
    } else if (event.key === "Tab" && !event.shiftKey && completions[0] !== undefined) {
      event.preventDefault();
      complete(chosen?.kind === "completion" ? chosen.completion : completions[0]);
    }
  };
  const looksAtCaret = () => setCaret(field.current?.selectionStart ?? query.length);
  const status = statusWords({ words: query.trim(), busy, page: found?.page ?? null });

  return (
    <Palette label="Search" className="md:w-[min(44rem,calc(100vw-3rem))]" onClose={onClose}>
      <div className="safe-top flex max-h-full flex-col max-md:h-full md:max-h-[76dvh]">
        <div className="flex items-center gap-1 border-b border-rule py-1.5 pr-2 pl-4">
          <span className="shrink-0 text-soft">
            <Icon name="search" />
          </span>
          <input
            ref={field}
            data-first-focus=""
            type="text"
            role="combobox"
            aria-label="Search everything"
            aria-expanded={items.length > 0}
            aria-controls={suggesting.listId}
            aria-activedescendant={suggesting.chosen === null ? undefined : optionId(suggesting.listId, suggesting.chosen)}
            aria-autocomplete="list"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            enterKeyHint="go"
            dir="auto"
            placeholder="Search every session"
            className="min-h-11 min-w-0 flex-1 bg-transparent px-2 text-base outline-none placeholder:text-soft"
            value={query}
            onChange={(event) => {
              setQuery(event.target.value);
              setCaret(event.target.selectionStart ?? event.target.value.length);
            }}
            onSelect={looksAtCaret}
            onKeyDown={press}
          />
          <button
            type="button"
            aria-pressed={exact}
            title="The text exactly as it stands, also inside of words (Shift+Enter)"
            className={`min-h-11 shrink-0 rounded-lg px-3 text-sm md:min-h-9 ${exact ? "bg-ink text-paper" : "text-soft hover:bg-press hover:text-ink"}`}
            onClick={() => {
              setExact(!exact);
              field.current?.focus();
            }}
          >
            Exact
          </button>
          <IconButton label="Close" onClick={onClose}>
            <Icon name="close" />
          </IconButton>
        </div>
        {!exact && (
          <div role="group" aria-label="Filters" className="edges flex shrink-0 gap-1.5 overflow-x-auto border-b border-rule px-4 py-2 [scrollbar-width:none]">
            {FILTERS.map(({ key, hint, example }) => (
              <button
                key={key}
                type="button"
                tabIndex={-1}
                title={`${hint}, as in ${example}`}
                className="min-h-9 shrink-0 rounded-full border border-rule px-3 font-mono text-[0.8125rem] text-soft hover:border-edge hover:text-ink md:min-h-7 md:px-2.5"
                onClick={() => write(key === "outcome" ? `${withFilter(query, key)}fail ` : withFilter(query, key))}
              >
                {key === "outcome" ? "outcome:fail" : `${key}:`}
              </button>
            ))}
          </div>
        )}
        <p role="status" className={`shrink-0 px-4.5 text-[0.8125rem] text-soft ${status === "" ? "" : "pt-2.5"}`}>
          {status}
        </p>
        {failure !== null && <Alert className="mx-4 mt-2">{failureWords(failure)}</Alert>}
        {found?.page.notes?.map((note) => (
          <p key={note} className="mx-4 mt-1 shrink-0 text-[0.8125rem] text-soft italic">
            {note}
          </p>
        ))}
        <PaletteList groups={groups} suggesting={suggesting} now={now} stale={busy} onTake={take} />
        {query.trim() === "" && (
          <Teaching
            hasRecent={recent.length > 0}
            onForget={() => {
              forgetSearches();
              setRecent([]);
              field.current?.focus();
            }}
          />
        )}
      </div>
    </Palette>
  );
}

/** For those who open it the first time; it says only what the list above does not show. */
function Teaching({ hasRecent, onForget }: { hasRecent: boolean; onForget(): void }) {
  return (
    <div className="safe-bottom flex shrink-0 flex-wrap items-center justify-between gap-x-4 border-t border-rule px-4 pt-2.5 text-[0.8125rem] text-soft">
      <p>
        Words in any order, <code>"a phrase"</code>, <code>-without</code>, <code>begin*</code>, and filters such as <code>file:shuttle.rs</code>
      </p>
      {hasRecent && (
        <button type="button" className="small-button" onClick={onForget}>
          Forget earlier searches
        </button>
      )}
    </div>
  );
}

interface Status {
  words: string;
  busy: boolean;
  page: Parameters<typeof foundWords>[0] | null;
}

function statusWords({ words, busy, page }: Status): string {
  if (words === "") {
    return "";
  }
  if (page === null) {
    return busy ? "Searching…" : "";
  }
  const { indexing } = page;
  const behind = indexing && indexing.total > 0 ? `, indexing ${Math.floor((100 * indexing.done) / indexing.total)} %` : "";
  return foundWords(page) + behind;
}
