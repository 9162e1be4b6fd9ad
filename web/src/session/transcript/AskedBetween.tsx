// What the agent asked while no turn ran: between two turns once it is settled, at the end of the transcript while it waits.
import type { Aside } from "../../state/transcript";
import type { Timestamp } from "../../wire/names";
import type { Actions } from "../items/actions";
import { PermissionCard } from "../items/PermissionCard";

interface AskedBetweenProps {
  asides: readonly Aside[];
  /** Nothing is above it. */
  first: boolean;
  /** Nothing is below it. */
  last: boolean;
  /** It can still be answered. */
  open: boolean;
  answeredAt: ReadonlyMap<number, Timestamp>;
  actions: Actions;
  now: number;
}

export function AskedBetween({ asides, first, last, open, answeredAt, actions, now }: AskedBetweenProps) {
  return (
    <section aria-label="Asked while no turn was running" className="thread-row pb-9">
      <span aria-hidden="true" className={`thread-line ${first ? "thread-line-first" : ""} ${last ? "thread-line-loose" : ""}`} />
      <div className="space-y-3 max-md:space-y-2">
        {asides.map((aside) => (
          <PermissionCard key={aside.request} permission={aside} call={null} open={open} answeredAt={answeredAt.get(aside.request) ?? null} actions={actions} now={now} />
        ))}
      </div>
    </section>
  );
}
