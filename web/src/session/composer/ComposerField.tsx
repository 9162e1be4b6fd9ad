// The field that a prompt is written in: it grows with its words, completes commands and file names, and recalls
// earlier prompts.
import type { ClipboardEvent, KeyboardEvent, RefObject } from "react";
import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";

import type { TranscriptTurn } from "../../state/transcript";
import { inOneLine } from "../../ui/shown";
import type { SuggestionItem } from "../../ui/SuggestionList";
import { SuggestionList } from "../../ui/SuggestionList";
import { optionId, useSuggesting } from "../../ui/suggestions";
import type { AgentCommand, SessionId } from "../../wire/names";
import type { Token } from "./completion";
import { complete, matchingCommands, tokenAt } from "./completion";
import { promptBack } from "./recall";
import { useFileNames } from "./useFileNames";

interface ComposerFieldProps {
  session: SessionId;
  agent: string;
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  placeholder: string;
  commands: readonly AgentCommand[];
  /** The newest turns that have been read. */
  turns: readonly TranscriptTurn[];
  /** Has the ones before them read, if there are any. */
  readEarlier: (() => void) | null;
  onWrite(text: string): void;
  onSend(): void;
  onPictures(files: readonly File[]): void;
}

interface Offer extends SuggestionItem {
  /** What is put after the token's sign. */
  by: string;
}

export function ComposerField({ session, agent, field, text, placeholder, commands, turns, readEarlier, onWrite, onSend, onPictures }: ComposerFieldProps) {
  const [caret, setCaret] = useState(text.length);
  // Escape puts a list away until another token begins.
  const [dismissed, setDismissed] = useState<string | null>(null);
  const [recalled, setRecalled] = useState<{ back: number; text: string } | null>(null);
  // How far back the reader went when the turns that were read came to an end; the text then.
  const wanted = useRef<{ back: number; text: string } | null>(null);
  const token = useMemo(() => tokenAt(text, caret), [text, caret]);
  const fileNames = useFileNames(session, token?.kind === "file" && dismissed !== keyOf(token) ? token.written : null);
  const offers = useMemo(() => offersFor(token, commands, fileNames), [token, commands, fileNames]);
  const suggesting = useSuggesting(offers, 0);
  const chosen = suggesting.chosen === null ? undefined : offers[suggesting.chosen];
  const showing = token !== null && chosen !== undefined && dismissed !== keyOf(token);

  useLayoutEffect(() => {
    fitHeight(field.current);
  }, [text, field]);

  const put = (changed: string, at: number) => {
    flushSync(() => {
      onWrite(changed);
      setCaret(at);
    });
    field.current?.setSelectionRange(at, at);
  };
  const accept = (offer: Offer) => {
    if (token !== null) {
      const changed = complete(text, caret, token, offer.by);
      put(changed.text, changed.caret);
    }
  };
  const recall = (step: 1 | -1): boolean => {
    const here = recalled !== null && recalled.text === text ? recalled.back : text === "" ? 0 : null;
    if (here === null || here + step < 0) {
      return false;
    }
    const back = here + step;
    const earlier = back === 0 ? "" : promptBack(turns, back);
    if (earlier === null) {
      wanted.current = readEarlier === null ? null : { back, text };
      readEarlier?.();
      return wanted.current !== null;
    }
    wanted.current = null;
    recallAs(back, earlier);
    return true;
  };
  const recallAs = (back: number, earlier: string) => {
    setRecalled({ back, text: earlier });
    put(earlier, earlier.length);
  };
  const goOnRecalling = useEffectEvent(() => {
    if (wanted.current === null || wanted.current.text !== text) {
      wanted.current = null;
      return;
    }
    const earlier = promptBack(turns, wanted.current.back);
    if (earlier !== null) {
      recallAs(wanted.current.back, earlier);
    }
    if (earlier !== null || readEarlier === null) {
      wanted.current = null;
    } else {
      readEarlier();
    }
  });
  const oldest = turns[0]?.turn;
  useEffect(() => {
    // Not while React is drawing: the field is written to at once.
    queueMicrotask(goOnRecalling);
  }, [oldest]);

  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    const { key, shiftKey } = event;
    if (showing && pressInList(key, shiftKey)) {
      event.preventDefault();
    } else if (key === "Enter" && (event.ctrlKey || event.metaKey || (!shiftKey && !isTouch()))) {
      event.preventDefault();
      onSend();
    } else if ((key === "ArrowUp" || key === "ArrowDown") && !shiftKey && recall(key === "ArrowUp" ? 1 : -1)) {
      event.preventDefault();
    } else if (key === "Escape") {
      event.currentTarget.blur();
    }
  };
  /** Whether the list of suggestions has use for the key. */
  const pressInList = (key: string, shiftKey: boolean): boolean => {
    if (token === null || chosen === undefined) {
      return false;
    }
    switch (key) {
      case "ArrowDown":
      case "ArrowUp":
        suggesting.move(key === "ArrowDown" ? 1 : -1);
        return true;
      case "Enter":
      case "Tab":
        // A word that is written out has nothing left to complete.
        if (shiftKey || chosen.by === token.written) {
          return false;
        }
        accept(chosen);
        return true;
      case "Escape":
        setDismissed(keyOf(token));
        return true;
      default:
        return false;
    }
  };
  const paste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    // Some programs copy words with a picture of them; then the words are meant.
    if (files.length > 0 && event.clipboardData.getData("text/plain") === "") {
      event.preventDefault();
      onPictures(files);
    }
  };

  return (
    <>
      {showing && (
        <SuggestionList
          label={token.kind === "command" ? "Commands" : "Files"}
          className="absolute inset-x-0 bottom-full mb-2 max-h-[min(20rem,45dvh)]"
          items={offers}
          suggesting={suggesting}
          onAccept={(index) => {
            const offer = offers[index];
            if (offer !== undefined) {
              accept(offer);
            }
          }}
        />
      )}
      <textarea
        ref={field}
        aria-label={`Prompt for ${agent}`}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={showing ? suggesting.listId : undefined}
        aria-activedescendant={showing && suggesting.chosen !== null ? optionId(suggesting.listId, suggesting.chosen) : undefined}
        className="block max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-3 pt-2.5 pb-1.5 text-base leading-6 outline-none placeholder:text-soft"
        rows={1}
        dir="auto"
        value={text}
        placeholder={placeholder}
        enterKeyHint={isTouch() ? "enter" : "send"}
        onChange={(event) => {
          const { value, selectionStart } = event.target;
          onWrite(value);
          setCaret(selectionStart);
          if (tokenAt(value, selectionStart) === null) {
            setDismissed(null);
          }
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={press}
        onPaste={paste}
      />
    </>
  );
}

function keyOf(token: Token): string {
  return `${token.kind} ${token.from}`;
}

/** Where writing raises a keyboard on the screen, Enter makes a line and the button sends. */
function isTouch(): boolean {
  return matchMedia("(hover: none) and (pointer: coarse)").matches;
}

function offersFor(token: Token | null, commands: readonly AgentCommand[], files: readonly string[]): Offer[] {
  switch (token?.kind) {
    case undefined:
      return [];
    case "command":
      return matchingCommands(commands, token.written).map(({ name, hint, description }, index) => ({
        key: `${index} ${name}`,
        by: name,
        label: inOneLine(`/${name}. ${description}`),
        content: (
          <span className="min-w-0 flex-1">
            <span className="flex items-baseline gap-2">
              <span className="max-w-full truncate font-mono text-[0.875rem]">/{inOneLine(name)}</span>
              {hint && <span className="min-w-0 truncate text-xs text-soft">{inOneLine(hint)}</span>}
            </span>
            {description !== "" && <span className="line-clamp-2 text-[0.8125rem] wrap-anywhere text-soft">{inOneLine(description)}</span>}
          </span>
        ),
      }));
    case "file":
      return files.map((path) => ({
        key: path,
        by: path,
        label: inOneLine(path),
        content: <span className="min-w-0 truncate font-mono text-[0.875rem]">{inOneLine(path)}</span>,
      }));
  }
}

/** Longer words are as high as the style lets them be; measuring them would have the browser lay out all of them twice. */
const MEASURED_LETTERS = 20_000;

/** As high as its words, up to the limit that the style sets. */
function fitHeight(field: HTMLTextAreaElement | null): void {
  if (field && field.value.length > MEASURED_LETTERS) {
    field.style.height = "100dvh";
  } else if (field) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
  }
}
