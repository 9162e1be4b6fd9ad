// Between two turns: the sessions that were forked from this one then.
import type { Fork } from "../../state/transcript";
import { Link } from "../../ui/Link";
import { inOneLine } from "../../ui/shown";
import { useOtherSession } from "../blocks/useOtherSession";

interface ForkedIntoProps {
  forks: readonly Fork[];
  /** Nothing is below it. */
  last: boolean;
  /** The turn above was interrupted: the thread goes on below. */
  broken: boolean;
}

export function ForkedInto({ forks, last, broken }: ForkedIntoProps) {
  return (
    <div className="thread-row pb-9">
      {!broken && <span aria-hidden="true" className={`thread-line ${last ? "thread-line-loose" : ""}`} />}
      {forks.map((fork) => (
        <ForkNote key={fork.session} fork={fork} />
      ))}
    </div>
  );
}

function ForkNote({ fork: { turn, session } }: { fork: Fork }) {
  const { title, gone } = useOtherSession(session);
  const place = turn === 0 ? "the beginning" : `turn ${turn}`;
  return (
    <p role="note" className="text-[0.9375rem] wrap-anywhere text-soft">
      Forked from {place} into{" "}
      {gone ? (
        "a session that was deleted"
      ) : (
        <Link href={`/s/${session}`} className="underline underline-offset-2">
          {title === null ? "another session" : inOneLine(title)}
        </Link>
      )}
    </p>
  );
}
