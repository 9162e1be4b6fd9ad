// What successful results proved, each with a way to the call that did.
import { useId } from "react";

import type { SessionContext } from "../../state/context";
import { provedValues } from "../../state/context";
import { Fold } from "../../ui/Fold";
import { relativePath } from "../../ui/paths";
import { placeHref, seek } from "../../ui/place";
import { inOneLine } from "../../ui/shown";
import type { ProvedValue, SessionRow } from "../../wire/names";
import { FileLink } from "./FileLink";

interface FactsProps {
  row: SessionRow;
  context: SessionContext;
  onOpenFile(path: string): void;
  /** The reader goes to where something was proved. */
  onJump(): void;
}

const LABELS: readonly (readonly [fact: string, label: string])[] = [
  ["branch", "Branch"],
  ["filesEdited", "Files edited"],
  ["filesCreated", "Files created"],
  ["filesDeleted", "Files deleted"],
  ["filesRead", "Files read"],
  ["commands", "Commands"],
  ["urls", "Addresses"],
  ["ports", "Ports"],
];

export function Facts({ row, context, onOpenFile, onJump }: FactsProps) {
  const heading = useId();
  const others = Object.keys(context.proofs).filter((fact) => !LABELS.some(([known]) => known === fact));
  const groups = [...LABELS, ...others.map((fact) => [fact, inOneLine(fact)] as const)].filter(([fact]) => fact in context.proofs);
  return (
    <section aria-labelledby={heading}>
      <h3 id={heading} className="font-semibold">
        Activity
      </h3>
      <p className="text-[0.8125rem] text-soft">What the agent’s calls really did; only those that succeeded.</p>
      {groups.length === 0 ? (
        <p className="mt-2 text-[0.9375rem] text-soft">Nothing yet.</p>
      ) : (
        <ul className="mt-2 divide-y divide-rule border-y border-rule">
          {groups.map(([fact, label]) => {
            const values = provedValues(context, fact);
            const count = context.proofs[fact]?.count ?? values.length;
            return (
              <li key={fact} className="py-1">
                <Fold
                  open={fact !== "filesRead" && values.length <= 10}
                  line={
                    <>
                      <span>{label}</span>
                      <span className="text-[0.8125rem] text-soft tabular-nums">{fact === "branch" ? "" : count}</span>
                    </>
                  }
                >
                  {() => (
                    <ul aria-label={label} className="pb-1">
                      {values.map((value) => (
                        <Value key={value.value} row={row} isFile={fact.startsWith("files")} value={value} onOpenFile={onOpenFile} onJump={onJump} />
                      ))}
                      {count > values.length && fact !== "branch" && (
                        <li className="text-[0.8125rem] text-soft">The newest {values.length} of {count} are kept.</li>
                      )}
                    </ul>
                  )}
                </Fold>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

interface ValueProps extends Omit<FactsProps, "context"> {
  value: ProvedValue;
  isFile: boolean;
}

function Value({ row, value: { value, turn, tool, exitCode }, isFile, onOpenFile, onJump }: ValueProps) {
  return (
    <li className="flex min-h-11 items-center gap-3 text-[0.875rem] md:pointer-fine:min-h-7">
      <span className="min-w-0 flex-1 font-mono text-[0.8125rem] wrap-anywhere">
        {isFile ? (
          <FileLink session={row.id} path={value} words={inOneLine(relativePath(value, row.cwd))} onOpen={onOpenFile} />
        ) : (
          inOneLine(value)
        )}
      </span>
      {exitCode !== null && exitCode !== undefined && (
        <span className={`shrink-0 text-[0.8125rem] ${exitCode === 0 ? "text-soft" : "font-semibold text-failed"}`}>exit {exitCode}</span>
      )}
      <a
        href={placeHref({ turn, tool })}
        className="inline-flex min-h-11 shrink-0 items-center rounded text-xs text-soft tabular-nums underline decoration-rule underline-offset-3 hover:decoration-current md:pointer-fine:min-h-6"
        aria-label={`t${turn}.${tool}, the call behind ${inOneLine(value)}`}
        onClick={(event) => {
          event.preventDefault();
          onJump();
          seek({ turn, tool });
        }}
      >
        t{turn}.{tool}
      </a>
    </li>
  );
}
