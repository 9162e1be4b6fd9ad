// What somebody wants to do, and what comes of it: a card each.
import { memo } from "react";

import { Fold } from "../../ui/Fold";
import { inOneLine, shown } from "../../ui/shown";
import type { CasePriority, UseCase } from "../../wire/blocks";
import "./UseCaseCards.css";

export const UseCaseCards = memo(function UseCaseCards({ useCases }: { useCases: readonly UseCase[] }) {
  return (
    <div className="space-y-3">
      {useCases.map((useCase, index) => (
        <UseCaseCard key={index} useCase={useCase} />
      ))}
    </div>
  );
});

const PRIORITIES: Readonly<Record<CasePriority, string>> = { high: "High", medium: "Medium", low: "Low" };

function UseCaseCard({ useCase }: { useCase: UseCase }) {
  const { id, name, actor, summary, priority, dependencies = [], edgeCases = [] } = useCase;
  const steps = [
    { word: "Given", lines: useCase.given ?? [] },
    { word: "When", lines: useCase.when ?? [] },
    { word: "Then", lines: useCase.then ?? [] },
  ].filter(({ lines }) => lines.length > 0);
  return (
    <div role="group" aria-label={`Use case ${inOneLine(`${id} ${name}`)}`} className="card use-case">
      <div className="flex items-baseline gap-x-3">
        {id !== "" && <span className="shrink-0 font-mono text-[0.8125rem] text-soft">{inOneLine(id)}</span>}
        <p className="min-w-0 flex-1 leading-snug font-semibold wrap-anywhere" dir="auto">
          {inOneLine(name)}
        </p>
        {priority && <Priority priority={priority} />}
      </div>
      {actor !== "" && (
        <p className="mt-0.5 text-[0.8125rem] text-soft wrap-anywhere">
          Actor: <bdi>{inOneLine(actor)}</bdi>
        </p>
      )}
      {summary !== "" && <p className="verbatim mt-1.5 text-[0.9375rem]">{shown(summary)}</p>}
      {steps.length > 0 && (
        <dl className="use-case-steps">
          {steps.map(({ word, lines }) => (
            <div key={word} className="contents">
              <dt>{word}</dt>
              <dd>
                {lines.map((line, index) => (
                  <p key={index} className="verbatim">
                    {shown(line)}
                  </p>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {dependencies.length > 0 && (
        <p className="mt-2 text-[0.8125rem] text-soft wrap-anywhere">
          Depends on <span className="font-mono">{dependencies.map(inOneLine).join(", ")}</span>
        </p>
      )}
      {edgeCases.length > 0 && (
        <Fold className="mt-1 [--line:1.75rem] pointer-coarse:[--line:2.75rem]" line={<span className="text-[0.8125rem] text-soft">{edgeCases.length === 1 ? "1 edge case" : `${edgeCases.length} edge cases`}</span>}>
          {() => (
            <ul className="mt-1 list-disc space-y-1 pl-5 text-[0.9375rem] marker:text-edge">
              {edgeCases.map((edgeCase, index) => (
                <li key={index} className="verbatim">
                  {shown(edgeCase)}
                </li>
              ))}
            </ul>
          )}
        </Fold>
      )}
    </div>
  );
}

/** Three bars, as many of them filled as it matters; and the word. */
function Priority({ priority }: { priority: CasePriority }) {
  const filled = { high: 3, medium: 2, low: 1 }[priority] ?? 0;
  return (
    <span className={`flex shrink-0 items-center gap-1.5 text-xs ${priority === "high" ? "text-warning" : "text-soft"}`}>
      <svg viewBox="0 0 14 12" width="14" height="12" aria-hidden="true" fill="currentColor">
        {[0, 1, 2].map((bar) => (
          <rect key={bar} x={bar * 5} y={8 - bar * 4} width="3.5" height={4 + bar * 4} rx="1" opacity={bar < filled ? 1 : 0.25} />
        ))}
      </svg>
      {PRIORITIES[priority] ?? priority}
      <span className="sr-only"> priority</span>
    </span>
  );
}
