// What the person can do while the session's agent is not there: sign in to it, try again, bring it back.
import type { ReactNode } from "react";
import { useState } from "react";

import { failureWords, sentence } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { useKeyed } from "../../app/useKeyed";
import type { AgentView } from "../../state/agent";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { Knot } from "../../ui/Knot";
import { inOneLine } from "../../ui/shown";
import type { SessionRow } from "../../wire/names";
import { SignInCard } from "./SignInCard";

interface AgentCardProps {
  row: SessionRow;
  agent: AgentView;
  /** Who had the session before it was handed over to this one, which has done nothing yet. */
  before?: string | null;
}

export function AgentCard({ row, agent, before = null }: AgentCardProps) {
  switch (agent.state) {
    case "signed_out":
      return (
        <OnThread>
          <SignInCard row={row} agent={agent} />
          {before !== null && <BringBack row={row} to={before} words={`Back to ${inOneLine(before)}`} />}
        </OnThread>
      );
    case "failed":
      return (
        <OnThread>
          <section aria-label="The agent failed" className="rounded-xl border border-rule bg-shade px-4 py-3">
            <p className="text-[0.9375rem] wrap-anywhere">
              <strong className="font-semibold text-failed">The agent failed.</strong>{" "}
              <span className="text-soft">{reasonWords(agent.reason ?? row.failure ?? null)} What is written down stays.</span>
            </p>
            <div className="flex flex-wrap gap-x-2">
              <BringBack row={row} words="Try again" />
              {before !== null && <BringBack row={row} to={before} words={`Back to ${inOneLine(before)}`} />}
            </div>
          </section>
        </OnThread>
      );
    case "stopped":
      return (
        <OnThread>
          <section aria-label="The agent is not running" className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
            <p className="text-sm text-soft">The agent is not running. Your next prompt brings it back.</p>
            <BringBack row={row} words="Bring the agent back" quiet />
          </section>
        </OnThread>
      );
    default:
      return null;
  }
}

/** The dashed piece of thread beside it joins the transcript's end to the composer. */
function OnThread({ children }: { children: ReactNode }) {
  return (
    <div className="thread-row pt-2 pb-3">
      <span aria-hidden="true" className="thread-line thread-line-ahead" />
      <span className="absolute top-[calc(1.85rem-7px)] left-0">
        <Knot shape="hollow" quiet />
      </span>
      {children}
    </div>
  );
}

/** `to`: another agent than the one that has the session. */
function BringBack({ row, words, to = null, quiet = false }: { row: SessionRow; words: string; to?: string | null; quiet?: boolean }) {
  const http = useHttp();
  const keyed = useKeyed();
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const bringBack = async () => {
    setSending(true);
    setFailure(null);
    const answer = await keyed(to ?? "", (key) => http.resume(row.id, { ...(to !== null && { agent: to }), key }));
    setSending(false);
    if (!answer.ok) {
      setFailure(failureWords(answer.failure));
    }
  };
  return (
    <div className={quiet ? "" : "mt-2"}>
      <Button disabled={sending} onClick={() => void bringBack()}>
        {sending ? "Starting…" : words}
      </Button>
      {failure !== null && <Alert className="mt-2">{failure}</Alert>}
    </div>
  );
}

function reasonWords(reason: string | null): string {
  const words = inOneLine(reason ?? "");
  return words === "" ? "It did not say why." : sentence(words);
}
