// Reads the turns near those in view, and their lines of the contents.
import { useEffect } from "react";

import { useApp } from "../../app/AppContext";
import { pageOf } from "../../state/contents";
import { earlierPageOf } from "../../state/earlier";
import type { Followed } from "../../state/followed";
import { firstFollowed } from "../../state/followed";
import type { SessionId } from "../../wire/names";

/** So many turns before and after those in view are read as well. */
const REACH = 12;
/** A reader who passes by faster than this wants none of it. */
const PASSING_MS = 60;

export function useTurnsInReach(session: SessionId, followed: Followed, inView: { startIndex: number; endIndex: number } | null): void {
  const app = useApp();
  const first = firstFollowed(followed);
  const from = inView === null ? first : Math.max(1, inView.startIndex + 1 - REACH);
  const to = inView === null ? first : Math.min(inView.endIndex + 1 + REACH, first - 1);
  // Where all that is in reach is followed there is nothing to read.
  const pages = from < first ? `${earlierPageOf(from)} ${earlierPageOf(to)}` : null;
  const line = from < first ? pageOf(from) : null;
  const lines = line !== null && !followed.contents.read.has(line);

  useEffect(() => {
    if (pages === null) {
      return;
    }
    const soon = setTimeout(() => app.readTurns(session, from, to), PASSING_MS);
    return () => clearTimeout(soon);
    // A page is what is read at once: which turns of it are in view makes no difference.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [app, session, pages]);
  useEffect(() => {
    if (line === null || !lines) {
      return;
    }
    // If it fails, a turn shows its number alone.
    const soon = setTimeout(() => void app.readToc(session, line), PASSING_MS);
    return () => clearTimeout(soon);
  }, [app, session, line, lines]);
}
