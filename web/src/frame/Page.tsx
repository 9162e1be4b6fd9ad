// The page: the list on the left, what is open beside it, and dialogs over both.
import { useMemo, useState } from "react";

import { useAppState } from "../app/AppContext";
import type { Frame } from "../app/FrameContext";
import { ConnectionNotice, FrameContext, WantedDirectory } from "../app/FrameContext";
import { routeOf } from "../routes";
import { SessionListPage } from "../session-list/SessionListPage";
import { SignedOutPage } from "../sign-in/SignedOutPage";
import type { Thread } from "../state/chain";
import { goOn } from "../state/chain";
import { PanelBoundary, RouteBoundary } from "../ui/Boundary";
import { NARROW, useMedia } from "../ui/media";
import { navigate, usePath } from "../ui/navigation";
import type { SessionId } from "../wire/names";
import { DayWarning } from "./DayWarning";
import { Dialogs } from "./Dialogs";
import { OpenPage } from "./OpenPage";
import { OutcomeLine } from "./OutcomeLine";
import { useConnectionNotice } from "./useConnectionNotice";
import { useDialogs } from "./useDialogs";
import { useAttention } from "./useAttention";
import { useHasSessions } from "./useHasSessions";
import { useNeedsYou } from "./useNeedsYou";
import { useNotifications } from "./useNotifications";
import { useOutcome } from "./useOutcome";
import { usePages } from "./usePages";

export function Page() {
  const signedOut = useAppState((state) => state.connection.kind === "signed_out");
  return <RouteBoundary>{signedOut ? <SignedOutPage reason="signed_out" /> : <SignedIn />}</RouteBoundary>;
}

function SignedIn() {
  const route = routeOf(usePath());
  const current = route.page === "session" ? route.session : null;
  const hasSessions = useHasSessions();
  const dialogs = useDialogs(route.page !== "list" ? false : hasSessions === null ? null : !hasSessions);
  const { show } = dialogs;
  const [begun, setBegun] = useState<SessionId | null>(null);
  const [thread, setThread] = useState<Thread>([]);
  const { outcome, next, remove, run } = useOutcome();
  const frame = useMemo<Frame>(
    () => ({
      show,
      goOn(from, to) {
        setThread((before) => goOn(before, from, to));
        navigate(`/s/${to}`);
      },
      remove,
      run,
    }),
    [remove, run, show],
  );
  const notice = useConnectionNotice();
  // On a phone the list and what is open are two pages, of which one is shown.
  const narrow = useMedia(NARROW);
  const listIsMain = narrow && route.page === "list";
  useAttention(current);
  useNotifications(current);
  useNeedsYou(current);
  usePages();

  return (
    <FrameContext value={frame}>
      <a href="#open" className="absolute top-2 left-2 z-20 -translate-y-20 rounded-lg bg-ink px-4 py-2 text-paper focus:translate-y-0">
        Skip the list
      </a>
      <ConnectionNotice value={notice}>
        <WantedDirectory value={dialogs.directory}>
          <div className="flex h-dvh flex-col">
            <div className="flex min-h-0 flex-1">
              <div role={listIsMain ? "main" : undefined} className={`min-w-0 flex-col ground-shade border-rule md:flex md:w-80 md:shrink-0 md:border-r ${route.page === "list" ? "flex flex-1 md:flex-none" : "hidden"}`}>
                <PanelBoundary name="The list of sessions">
                  <SessionListPage current={current} shown={!narrow || listIsMain} hasSessions={hasSessions} />
                </PanelBoundary>
              </div>
              <main id="open" tabIndex={-1} className={`min-w-0 flex-1 flex-col outline-none md:flex ${route.page === "list" ? "hidden" : "flex"}`}>
                <RouteBoundary of={current ?? (route.page === "settings" ? route.section : route.page)}>
                  <OpenPage route={route} thread={thread} begun={begun} shown={!listIsMain} hasSessions={hasSessions} />
                </RouteBoundary>
              </main>
            </div>
            <DayWarning />
            <OutcomeLine outcome={outcome} onNext={next} />
          </div>
        </WantedDirectory>
      </ConnectionNotice>
      <Dialogs dialogs={dialogs} current={current} onBegun={setBegun} />
    </FrameContext>
  );
}
