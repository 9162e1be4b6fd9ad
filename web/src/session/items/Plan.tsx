// The agent's plan: a list that is ticked off in place.
import { memo, useState } from "react";

import { planWord } from "../../state/words";
import { LongText } from "../../ui/LongText";
import type { PlanStep, StepStatus } from "../../wire/names";
import { Step } from "./Step";

/** More are shown when they are asked for. */
const MOST_STEPS = 100;

export const Plan = memo(function Plan({ steps }: { steps: readonly PlanStep[] }) {
  const [most, setMost] = useState(MOST_STEPS);
  const done = steps.filter(({ status }) => status === "completed").length;
  return (
    <Step bead={null} label="Plan">
      <div className="card">
        <p className="flex items-baseline justify-between gap-4 text-[0.8125rem] text-soft">
          <span className="font-semibold text-ink">Plan</span>
          <span className="tabular-nums">
            {done} of {steps.length} done
          </span>
        </p>
        <ol className="mt-2 space-y-1.5">
          {steps.slice(0, most).map(({ text, status, priority }, index) => (
            <li key={index} className="grid grid-cols-[1rem_minmax(0,1fr)_auto] gap-x-2.5">
              <span className="mt-[0.3rem]">
                <Mark status={status} />
              </span>
              <span className={`verbatim leading-normal max-md:col-span-2 ${status === "completed" ? "text-soft" : ""} ${status === "running" ? "font-semibold" : ""}`}>
                <span className="sr-only">{planWord(status)}: </span>
                <LongText text={text} label="A step of the plan">
                  {(words) => words}
                </LongText>
              </span>
              <span className="pt-0.5 text-xs text-soft max-md:col-start-2">
                {[status === "running" && planWord(status), priority === "high" && status !== "completed" && "high priority"]
                  .filter((word) => word !== false)
                  .join(" · ")}
              </span>
            </li>
          ))}
        </ol>
        {steps.length > most && (
          <button type="button" className="small-button mx-0!" onClick={() => setMost(most + MOST_STEPS)}>
            Show more of the {steps.length.toLocaleString("en")} steps
          </button>
        )}
      </div>
    </Step>
  );
});

function Mark({ status }: { status: StepStatus }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" className={status === "running" ? "text-running" : "text-edge"}>
      <rect x="1.75" y="1.75" width="12.5" height="12.5" rx="3" fill="none" stroke="currentColor" strokeWidth="1.5" />
      {status === "completed" && <path d="M4.75 8.25 7 10.5l4.25-5" fill="none" stroke="currentColor" strokeWidth="1.75" strokeLinecap="round" strokeLinejoin="round" />}
      {status === "running" && <path d="M2.5 2.5h5.5v11H2.5z" fill="currentColor" />}
    </svg>
  );
}
