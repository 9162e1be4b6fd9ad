// What stands beside the list: the page that the address asks for.
import { useAppState } from "../app/AppContext";
import { PickerButton } from "../picker/PickerButton";
import type { Route } from "../routes";
import { SessionPage } from "../session/SessionPage";
import { Welcome } from "../session-list/Welcome";
import type { Thread } from "../state/chain";
import { buttonClass } from "../ui/Button";
import { Link } from "../ui/Link";
import { Notice } from "../ui/Notice";
import type { SessionId } from "../wire/names";

interface OpenPageProps {
  route: Route;
  /** Sessions that were gone to from one another: their pages are one. */
  thread: Thread;
  /** The session that was begun last on this page. */
  begun: SessionId | null;
}

export function OpenPage({ route, thread, begun }: OpenPageProps) {
  const list = useAppState((state) => state.list);
  switch (route.page) {
    case "session":
      return (
        <SessionPage
          key={thread.includes(route.session) ? thread[0] : route.session}
          session={route.session}
          fresh={route.session === begun}
          picker={<PickerButton session={route.session} />}
        />
      );
    case "list":
      return list.extent.kind === "unread" ? null : <Welcome hasSessions={list.rows.size > 0} />;
    case "unknown":
      return (
        <Notice title="Nothing is at this address">
          <p>It may have been cut off when it was copied.</p>
          <Link href="/" className={`mt-6 ${buttonClass("plain")}`}>
            All sessions
          </Link>
        </Notice>
      );
  }
}
