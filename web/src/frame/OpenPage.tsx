// What stands beside the list: the page that the address asks for.
import { createElement } from "react";

import { PickerButton } from "../picker/PickerButton";
import type { Route } from "../routes";
import { LoadingSession } from "../session/LoadingSession";
import type { SessionPage } from "../session/SessionPage";
import { Welcome } from "../session-list/Welcome";
import type SettingsPage from "../settings/SettingsPage";
import type { Thread } from "../state/chain";
import { buttonClass } from "../ui/Button";
import { Link } from "../ui/Link";
import { Notice } from "../ui/Notice";
import type UsagePage from "../usage/UsagePage";
import type { SessionId } from "../wire/names";
import { PageNotLoaded } from "./NotLoaded";
import { usePart } from "./usePart";

/** Most of the page's code, which the list does not need. */
const loadSession = async () => (await import("../session/SessionPage")).SessionPage;
const loadSettings = () => import("../settings/SettingsPage").then((loaded) => loaded.default);
const loadUsage = () => import("../usage/UsagePage").then((loaded) => loaded.default);

interface OpenPageProps {
  route: Route;
  /** Sessions that were gone to from one another: their pages are one. */
  thread: Thread;
  /** The session that was begun last on this page. */
  begun: SessionId | null;
  /** False where the list is shown in its place. */
  shown: boolean;
  /** Null until it is known. */
  hasSessions: boolean | null;
}

export function OpenPage({ route, thread, begun, shown, hasSessions }: OpenPageProps) {
  const sessionPage = usePart<typeof SessionPage>(loadSession, route.page === "session");
  const settings = usePart<typeof SettingsPage>(loadSettings, route.page === "settings");
  const usage = usePart<typeof UsagePage>(loadUsage, route.page === "usage");
  switch (route.page) {
    case "session":
      if (sessionPage.kind === "failed") {
        return <PageNotLoaded name="Session" onRetry={sessionPage.retry} />;
      }
      return sessionPage.kind === "loading" ? (
        <LoadingSession />
      ) : (
        createElement(sessionPage.part, {
          key: thread.includes(route.session) ? thread[0] : route.session,
          session: route.session,
          fresh: route.session === begun,
          picker: <PickerButton session={route.session} />,
        })
      );
    case "settings":
      if (settings.kind === "failed") {
        return <PageNotLoaded name="Settings" onRetry={settings.retry} />;
      }
      return settings.kind === "loading" ? null : createElement(settings.part, { section: route.section });
    case "list":
      return hasSessions === null || !shown ? null : <Welcome hasSessions={hasSessions} />;
    case "usage":
      if (usage.kind === "failed") {
        return <PageNotLoaded name="Usage" onRetry={usage.retry} />;
      }
      return usage.kind === "loading" ? null : createElement(usage.part);
    case "unknown":
      return (
        <Notice title="Nothing is at this address">
          <p>It may have been cut off when it was copied.</p>
          <Link href="/" className={`mt-6 text-ink ${buttonClass("plain")}`}>
            All sessions
          </Link>
        </Notice>
      );
  }
}
