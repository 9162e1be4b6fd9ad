// The field above the list: words that narrow it, and filters, which are completed while they are written.
import type { KeyboardEvent } from "react";
import { useMemo, useRef, useState } from "react";

import { SuggestionList } from "../ui/SuggestionList";
import { optionId, useSuggesting } from "../ui/suggestions";
import { completionsOf } from "./filter";

interface FilterFieldProps {
  text: string;
  disabled: boolean;
  onText(text: string): void;
}

export function FilterField({ text, disabled, onText }: FilterFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  const completions = useMemo(() => completionsOf(text), [text]);
  const suggesting = useSuggesting(completions, null);
  const { chosen } = suggesting;
  const showing = open && completions.length > 0;
  const accept = (index: number) => {
    const completion = completions[index];
    if (completion !== undefined) {
      onText(completion.text);
      field.current?.focus();
    }
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === "Escape" && (showing || text !== "")) {
      event.preventDefault();
      setOpen(false);
      if (!showing) {
        onText("");
      }
    } else if (showing && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      suggesting.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (showing && ((event.key === "Enter" && chosen !== null) || (event.key === "Tab" && !event.shiftKey && (chosen !== null || text.includes(":"))))) {
      event.preventDefault();
      accept(chosen ?? 0);
    }
  };
  return (
    <>
      <input
        ref={field}
        type="search"
        aria-label="Filter the list"
        placeholder="Filter the list"
        aria-autocomplete="list"
        aria-controls={showing ? suggesting.listId : undefined}
        aria-activedescendant={showing && chosen !== null ? optionId(suggesting.listId, chosen) : undefined}
        value={text}
        maxLength={200}
        disabled={disabled}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        className="min-h-11 min-w-0 flex-1 rounded-lg border border-rule bg-paper px-3 text-[0.9375rem] placeholder:text-soft disabled:opacity-60 md:min-h-9"
        onChange={(event) => {
          onText(event.target.value);
          setOpen(true);
        }}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
      />
      {showing && (
        <SuggestionList
          label="Filters"
          className="absolute top-full right-0 left-0 mt-1"
          items={completions.map(({ label, hint }) => ({
            key: label,
            label: `${label}, ${hint}`,
            content: (
              <>
                <code className="shrink-0">{label}</code>
                <span className="truncate text-sm text-soft">{hint}</span>
              </>
            ),
          }))}
          suggesting={suggesting}
          onAccept={accept}
        />
      )}
    </>
  );
}
