// Shows a notification for each question and each turn that has ended while nobody looks, if the person wants them.
import { useEffect } from "react";

import { useApp } from "../app/AppContext";
import { notificationWorker, notify, useNotificationChoice, withdraw } from "../app/notifications";
import { answeredSince, noticesOf, noticeWords, seenSince } from "../state/notices";
import { titleOf } from "../state/words";
import { navigate } from "../ui/navigation";
import type { SessionId } from "../wire/names";

export function useNotifications(current: SessionId | null): void {
  const { store } = useApp();
  const { on, titles } = useNotificationChoice();
  useEffect(() => {
    if (!on) {
      return undefined;
    }
    // Ready before there is something to show.
    notificationWorker().catch(() => undefined);
    return store.subscribe(({ list }, before) => {
      if (list === before.list) {
        return;
      }
      for (const row of [...answeredSince(before.list, list), ...seenSince(before.list, list)]) {
        withdraw(`/s/${row.id}`).catch(() => undefined);
      }
      for (const notice of noticesOf(before.list, list)) {
        const { row, kind } = notice;
        if (row.id === current && document.visibilityState === "visible" && document.hasFocus()) {
          continue;
        }
        const words = noticeWords(notice, titles ? titleOf(row) : null);
        notify({ ...words, tag: `${row.id} ${kind} ${row.activeAt}`, path: `/s/${row.id}` }).catch(() => undefined);
      }
    });
  }, [store, on, titles, current]);
  useEffect(() => {
    if (!on) {
      return undefined;
    }
    const open = ({ data }: MessageEvent<{ type?: unknown; path?: unknown } | null>) => {
      if (data?.type === "open" && typeof data.path === "string" && data.path.startsWith("/s/")) {
        navigate(data.path);
      }
    };
    navigator.serviceWorker.addEventListener("message", open);
    return () => {
      navigator.serviceWorker.removeEventListener("message", open);
    };
  }, [on]);
}
