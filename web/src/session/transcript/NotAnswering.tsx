// An agent that has been silent for too long, and what can be done.
import { useState } from "react";

import type { Failure } from "../../api/http";
import { failureWords } from "../../api/http";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import type { Actions } from "../items/actions";

export function NotAnswering({ actions }: { actions: Actions }) {
  const [stopping, setStopping] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const stop = async () => {
    setStopping(true);
    const answer = await actions.stop();
    setFailure(answer.ok ? null : answer.failure);
    setStopping(answer.ok);
  };
  return (
    <div className="card">
      <p>
        <strong className="font-semibold text-warning">Not answering for a while.</strong>{" "}
        <span className="text-soft">The agent may still be at work. Wait for it, or stop this turn; what is written down stays.</span>
      </p>
      <Button className="mt-3" disabled={stopping} onClick={() => void stop()}>
        {stopping ? "Stopping…" : "Stop this turn"}
      </Button>
      {failure !== null && <Alert className="mt-3">{failureWords(failure)}</Alert>}
    </div>
  );
}
