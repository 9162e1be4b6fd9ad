// Below an answer that is remembered: the way to forget it, and to all others.
import { useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { RememberedDialog } from "./RememberedDialog";

type Forgetting = { kind: "ready" } | { kind: "sending" } | { kind: "forgotten" } | { kind: "failed"; words: string };

export function RememberedLine({ id }: { id: string }) {
  const http = useHttp();
  const [forgetting, setForgetting] = useState<Forgetting>({ kind: "ready" });
  const [showsAll, setShowsAll] = useState(false);

  const forget = async () => {
    setForgetting({ kind: "sending" });
    const answer = await http.forgetPermission(id);
    const gone = answer.ok || (answer.failure.kind === "refused" && answer.failure.code === "permission_not_found");
    setForgetting(gone ? { kind: "forgotten" } : { kind: "failed", words: failureWords(answer.failure) });
  };

  return (
    <div className="text-[0.8125rem] text-soft">
      <span aria-live="polite">{forgetting.kind === "forgotten" && "Forgotten. The same will be asked again."}</span>
      {forgetting.kind !== "forgotten" && (
        <Button look="quiet" disabled={forgetting.kind === "sending"} onClick={() => void forget()}>
          Forget
        </Button>
      )}
      <Button look="quiet" onClick={() => setShowsAll(true)}>
        All remembered permissions…
      </Button>
      {forgetting.kind === "failed" && <Alert className="mt-2">{forgetting.words}</Alert>}
      {showsAll && <RememberedDialog onClose={() => setShowsAll(false)} />}
    </div>
  );
}
