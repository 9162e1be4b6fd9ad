// Which of a list of suggestions is chosen while the focus stays in the field that they are for.
import { useId, useState } from "react";

export interface Suggesting {
  readonly listId: string;
  readonly chosen: number | null;
  move(step: 1 | -1): void;
  choose(index: number): void;
}

/** A new list starts at `atFirst`: an array that changes without need loses the choice. */
export function useSuggesting(items: readonly unknown[], atFirst: number | null): Suggesting {
  const listId = useId();
  const [choice, setChoice] = useState<{ of: readonly unknown[]; index: number | null }>({ of: items, index: atFirst });
  const chosen = items.length === 0 ? null : choice.of === items ? choice.index : atFirst;
  const choose = (index: number) => {
    setChoice({ of: items, index });
  };
  return {
    listId,
    chosen,
    choose,
    move(step) {
      if (items.length > 0) {
        const from = chosen ?? (step === 1 ? -1 : items.length);
        choose((from + step + items.length) % items.length);
      }
    },
  };
}

export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}
