// A list of suggestions below or above a field. The focus stays in the field, which names the chosen one.
import type { CSSProperties, ReactNode } from "react";
import { useEffect, useRef } from "react";

import type { Suggesting } from "./suggestions";
import { optionId } from "./suggestions";

export interface SuggestionItem {
  key: string;
  /** Neighbours of one group stand under its name. */
  group?: string;
  /** What it is called aloud. */
  label: string;
  content: ReactNode;
}

interface SuggestionListProps {
  label: string;
  items: readonly SuggestionItem[];
  suggesting: Suggesting;
  onAccept(index: number): void;
  className?: string;
  style?: CSSProperties;
}

export function SuggestionList({ label, items, suggesting, onAccept, className = "", style }: SuggestionListProps) {
  const { listId, chosen } = suggesting;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen !== null) {
      element.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
    }
  }, [chosen]);

  return (
    <div
      ref={element}
      id={listId}
      role="listbox"
      aria-label={label}
      style={style}
      // Pressing here must not take the focus from the field.
      onMouseDown={(event) => {
        event.preventDefault();
      }}
      className={`z-20 overflow-y-auto overscroll-contain rounded-xl border border-rule bg-paper p-1.5 shadow-sheet ${className}`}
    >
      {groupsOf(items).map(({ name, from, members }) => (
        <div key={`${name}-${from}`} role="group" aria-label={name ?? label}>
          {name !== undefined && (
            <p aria-hidden="true" className="px-2.5 pt-1.5 pb-1 text-xs font-medium text-soft">
              {name}
            </p>
          )}
          {members.map((item, offset) => {
            const index = from + offset;
            return (
              // The field handles the keys.
              <div
                key={item.key}
                id={optionId(listId, index)}
                role="option"
                aria-label={item.label}
                aria-selected={index === chosen}
                className={`flex min-h-10 cursor-pointer items-center gap-3 rounded-lg px-2.5 py-1.5 text-[0.9375rem] md:min-h-9 ${index === chosen ? "bg-press" : "hover:bg-press/60"}`}
                onClick={() => onAccept(index)}
              >
                {item.content}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

interface Group {
  name: string | undefined;
  from: number;
  members: SuggestionItem[];
}

function groupsOf(items: readonly SuggestionItem[]): Group[] {
  const groups: Group[] = [];
  items.forEach((item, index) => {
    const open = groups.at(-1);
    if (open !== undefined && open.name === item.group) {
      open.members.push(item);
    } else {
      groups.push({ name: item.group, from: index, members: [item] });
    }
  });
  return groups;
}
