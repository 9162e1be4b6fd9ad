// What the session used, in its header, and a word when it has cost more than the person set. Where nothing is known of it
// the header says nothing; the page of usage says that it is unknown.
import { useState } from "react";

import { isKnown, warningWords } from "../../state/usageWords";
import { NARROW, useMedia } from "../../ui/media";
import type { SessionId } from "../../wire/names";
import { UsageDetails } from "./UsageDetails";
import { useSessionUsage } from "./UsageContext";

interface SessionUsageProps {
  session: SessionId;
  /** The newest turn that has ended. */
  ended: number;
}

export function SessionUsageLine({ session, ended }: SessionUsageProps) {
  const usage = useSessionUsage(session, ended);
  const narrow = useMedia(NARROW);
  if (usage === null || !isKnown(usage.total)) {
    return null;
  }
  const models = usage.models.map(({ key, used }) => ({ model: key ?? null, ...used.tokens }));
  return <UsageDetails used={usage.total} models={models} what="this session" narrow={narrow} className="min-w-0 shrink-0" />;
}

export function SessionUsageWarning({ session, ended }: SessionUsageProps) {
  const warning = useSessionUsage(session, ended)?.warning ?? null;
  const [seen, setSeen] = useState(false);
  const shown = warning !== null && !seen;
  // What is read out has its place before its words.
  return (
    <div className={shown ? "mb-3 flex flex-wrap items-baseline gap-x-3 border-l-2 border-warning pl-3 text-[0.9375rem]" : ""}>
      <p role="status">{shown && warningWords("This session", warning)}</p>
      {shown && (
        <button type="button" className="small-button" onClick={() => setSeen(true)}>
          Dismiss
        </button>
      )}
    </div>
  );
}
