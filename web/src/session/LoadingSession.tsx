// A session that is being read, before anything of it is there.
import { use } from "react";

import { ConnectionNotice } from "../app/FrameContext";
import { Icon } from "../ui/Icon";
import { Link } from "../ui/Link";

export function LoadingSession() {
  return (
    <div aria-busy="true" className="beside-scrollbar safe-x safe-top flex min-h-0 flex-1 flex-col md:px-8">
      <div className="flex min-h-15 items-center gap-1">
        <Link
          href="/"
          aria-label="Back to the sessions"
          className="-ml-3 inline-flex size-11 shrink-0 items-center justify-center rounded-lg text-soft active:bg-press md:hidden"
        >
          <Icon name="back" />
        </Link>
        <div role="status" className="text-[0.8125rem]">
          {use(ConnectionNotice)}
        </div>
      </div>
      <p className="sr-only">Reading the session…</p>
      <div aria-hidden="true" className="reading mt-8">
        {[72, 88, 54].map((width) => (
          <div key={width} className="thread-row pb-10">
            <span className="thread-line thread-line-ahead" />
            <div className="h-4 w-2/5 rounded bg-press" />
            <div className="mt-4 h-3 rounded bg-press" style={{ width: `${width}%` }} />
            <div className="mt-2.5 h-3 rounded bg-press" style={{ width: `${width - 20}%` }} />
          </div>
        ))}
      </div>
    </div>
  );
}
