// After something was done with sessions: says so, and offers to undo it. It stays until it is answered or another page is
// opened, below the page: it covers nothing.
//
// Invariant: the region that is read out is there before its words, or some screen readers would not say them.
import { useState } from "react";

import type { Outcome } from "../app/bulkActions";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";

interface OutcomeLineProps {
  outcome: Outcome | null;
  /** What is to be said instead of this one. */
  onNext(before: Outcome, next: Outcome | null): void;
}

export function OutcomeLine({ outcome, onNext }: OutcomeLineProps) {
  const [undoing, setUndoing] = useState<Outcome | null>(null);
  const undo = async (of: Outcome) => {
    setUndoing(of);
    onNext(of, (await of.undo?.()) ?? null);
  };
  return (
    <div className={outcome === null ? "" : "safe-bottom safe-x flex justify-center border-t border-rule pt-1"}>
      <div className="flex max-w-full items-center gap-1">
        <p role="status" className={outcome === null ? "" : "mr-2 min-w-0 text-[0.9375rem] wrap-anywhere"}>
          {outcome?.words}
        </p>
        {outcome !== null && (
          <>
            {outcome.undo !== null && (
              <Button look="quiet" className="font-semibold text-ink!" disabled={undoing === outcome} onClick={() => void undo(outcome)}>
                Undo
              </Button>
            )}
            <IconButton label="Dismiss" onClick={() => onNext(outcome, null)}>
              <Icon name="close" />
            </IconButton>
          </>
        )}
      </div>
    </div>
  );
}
