// Goes to the next session that waits for the person: one that asks first, then one whose answer nobody has seen.
import { useApp } from "../app/AppContext";
import { useActions } from "../app/actions";
import { listedRows } from "../state/sessionList";
import { navigate } from "../ui/navigation";
import { jumpToTurn } from "../ui/place";
import type { SessionId, SessionRow } from "../wire/names";

export function useNeedsYou(current: SessionId | null): void {
  const app = useApp();
  useActions({
    "all-sessions": () => navigate("/"),
    "needs-you": () => {
      const next = nextInNeed(listedRows(app.store.getState().list), current);
      if (next === null) {
        return;
      }
      if (next.id === current) {
        jumpToTurn(next.turns);
      } else {
        navigate(`/s/${next.id}`);
      }
    },
  });
}

/** The first in need after the current one, around the end of the list; the current one itself comes last. */
export function nextInNeed(rows: readonly SessionRow[], current: SessionId | null): SessionRow | null {
  const at = rows.findIndex(({ id }) => id === current) + 1;
  const around = [...rows.slice(at), ...rows.slice(0, at)];
  return around.find(({ state }) => state === "needs_you") ?? around.find(({ unobserved, id }) => unobserved && id !== current) ?? null;
}
