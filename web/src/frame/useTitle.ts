// The window's title.
import { useEffect } from "react";

import { useAppState } from "../app/AppContext";
import { titleOf } from "../state/words";
import type { SessionId } from "../wire/names";

/** How many answers are unseen, and what is open. */
export function useTitle(current: SessionId | null): void {
  const unseen = useAppState((state) => state.list.unobservedCount);
  const title = useAppState((state) => {
    const row = current === null ? undefined : state.list.rows.get(current);
    return row === undefined ? null : titleOf(row);
  });
  useEffect(() => {
    const count = unseen > 0 ? `(${unseen}) ` : "";
    document.title = count + (title === null ? "Throughline" : `${title} · Throughline`);
  }, [unseen, title]);
}
