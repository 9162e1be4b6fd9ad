// What the window and the installed app say of the sessions while nobody looks at the page: its title and its badge.
import { useEffect } from "react";

import { useAppState } from "../app/AppContext";
import type { Attention } from "../state/attention";
import { attentionOf, titlePrefix } from "../state/attention";
import { titleOf } from "../state/words";
import type { SessionId } from "../wire/names";

export function useAttention(current: SessionId | null): void {
  const needYou = useAppState((state) => attentionOf(state.list).needYou);
  const unseen = useAppState((state) => attentionOf(state.list).unseen);
  const title = useAppState((state) => {
    const row = current === null ? undefined : state.list.rows.get(current);
    return row === undefined ? null : titleOf(row);
  });
  useEffect(() => {
    document.title = titlePrefix({ needYou, unseen }) + (title === null ? "Throughline" : `${title} · Throughline`);
  }, [needYou, unseen, title]);
  useEffect(() => {
    setBadge({ needYou, unseen });
  }, [needYou, unseen]);
}

/** Not every browser has badges, and one that has them may refuse; the title says the same. */
function setBadge({ needYou, unseen }: Attention): void {
  const badges = navigator as Partial<Pick<Navigator, "setAppBadge" | "clearAppBadge">>;
  const set = needYou > 0 ? badges.setAppBadge?.call(navigator, needYou) : unseen > 0 ? badges.setAppBadge?.call(navigator) : badges.clearAppBadge?.call(navigator);
  set?.catch(() => undefined);
}
