// What is left to do: the agent's newest plan, the prompts that wait, and the steps that it offers.
import { failureWords } from "../../api/http";
import type { Followed } from "../../state/followed";
import { planWord } from "../../state/words";
import { Alert } from "../../ui/Alert";
import { inOneLine } from "../../ui/shown";
import type { PlanStep, SessionId } from "../../wire/names";
import { useStanding } from "../blocks/useStanding";
import { TurnLink } from "./TurnLink";

interface PlanTabProps {
  session: SessionId;
  followed: Followed;
  onJump(): void;
}

export function PlanTab({ session, followed, onJump }: PlanTabProps) {
  const plan = newestPlan(followed);
  // The newest that come at once; nothing is asked for where no step was ever offered.
  const { standing, failure } = useStanding({ session, from: followed.nextSeq > 0 ? Infinity : null, changed: `${followed.nextSeq}` });
  const offers = [...(standing?.values() ?? [])].filter(({ state }) => state === "open");
  const { queue } = followed;
  const nothing = plan === null && offers.length === 0 && queue.length === 0 && failure === null;
  return (
    <div className="space-y-6 text-[0.9375rem]">
      {nothing && <p className="text-soft">The agent’s plan, prompts that wait and the next steps that it offers stand here.</p>}
      {plan !== null && (
        <section aria-label="Plan">
          <h3 className="flex items-baseline justify-between gap-3 font-semibold">
            Plan
            <span className="text-[0.8125rem] font-normal text-soft tabular-nums">
              {plan.steps.filter(({ status }) => status === "completed").length} of {plan.steps.length} done,{" "}
              <TurnLink turn={plan.turn} onJump={onJump} />
            </span>
          </h3>
          <ol className="mt-2 space-y-1">
            {plan.steps.map((step, index) => (
              <Step key={index} step={step} />
            ))}
          </ol>
        </section>
      )}
      {queue.length > 0 && (
        <section aria-label="Prompts that wait">
          <h3 className="font-semibold">Prompts that wait</h3>
          <ul className="mt-2 space-y-1">
            {queue.map(({ interactionId, text }) => (
              <li key={interactionId} className="truncate text-soft">
                {inOneLine(text)}
              </li>
            ))}
          </ul>
        </section>
      )}
      {failure !== null && <Alert>It is not known which next steps are open. {failureWords(failure)}</Alert>}
      {offers.length > 0 && (
        <section aria-label="Next steps">
          <h3 className="font-semibold">Next steps on offer</h3>
          <ul className="mt-2 space-y-1">
            {offers.map(({ id, label, turn }) => (
              <li key={id} className="flex items-baseline gap-3">
                <span className="min-w-0 flex-1 wrap-anywhere">{inOneLine(label)}</span>
                <TurnLink turn={turn} onJump={onJump} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

const SIGNS: Record<PlanStep["status"], string> = { completed: "✓", running: "▸", pending: "○" };

function Step({ step: { text, status } }: { step: PlanStep }) {
  return (
    <li className="grid grid-cols-[1.25rem_minmax(0,1fr)]">
      <span aria-hidden="true" className={status === "running" ? "text-running" : "text-soft"}>
        {SIGNS[status]}
      </span>
      <span className={`wrap-anywhere ${status === "completed" ? "text-soft" : ""} ${status === "running" ? "font-semibold" : ""}`}>
        <span className="sr-only">{planWord(status)}: </span>
        {inOneLine(text)}
      </span>
    </li>
  );
}

/** Of the turns that are read; the newest ones always are. */
export function newestPlan(followed: Followed): { turn: number; steps: readonly PlanStep[] } | null {
  for (const turn of followed.transcript.turns.toReversed()) {
    const plan = turn.items.findLast((item) => item.type === "plan");
    if (plan?.type === "plan") {
      return { turn: turn.turn, steps: plan.steps };
    }
  }
  return null;
}
