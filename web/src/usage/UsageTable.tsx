// A table of what was used, by one thing.
import type { ReactNode } from "react";

import { costWords, shortCount, UNKNOWN } from "../state/usageWords";
import type { UsageBy, Used } from "../wire/usage";

interface UsageTableProps {
  title: string;
  rows: readonly UsageBy[];
  nameOf(row: UsageBy): ReactNode;
  /** What is said where there is no row. */
  none: string;
}

/** Where there is room for all columns they are as wide in every table, so that the tables can be read as one. */
const NUMBER = "py-1.5 pl-4 text-right whitespace-nowrap tabular-nums @xl:min-w-20";
const COST = `${NUMBER} @xl:min-w-40`;

export function UsageTable({ title, rows, nameOf, none }: UsageTableProps) {
  return (
    <section className="@container min-w-0">
      <h2 className="mb-1 text-[0.9375rem] font-semibold">{title}</h2>
      {rows.length === 0 ? (
        <p className="text-[0.875rem] text-soft">{none}</p>
      ) : (
        <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={`${title}, table`}>
          <table className="w-full text-[0.8125rem]">
            <thead>
              <tr className="border-b border-rule text-soft">
                <th scope="col" className="py-1.5 text-left font-normal">
                  {title.replace(/^By /, "").replace(/^./, (first) => first.toUpperCase())}
                </th>
                <th scope="col" className={`${NUMBER} font-normal @max-xl:hidden`}>
                  Turns
                </th>
                <th scope="col" className={`${NUMBER} font-normal @max-xl:hidden`}>
                  Input
                </th>
                <th scope="col" className={`${NUMBER} font-normal @max-xl:hidden`}>
                  Cached
                </th>
                <th scope="col" className={`${NUMBER} font-normal @max-xl:hidden`}>
                  Output
                </th>
                <th scope="col" className={`${NUMBER} font-normal @xl:hidden`}>
                  Tokens
                </th>
                <th scope="col" className={`${COST} font-normal`}>
                  Cost
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.key ?? ""} className="border-b border-rule last:border-0">
                  <th scope="row" className="max-w-0 min-w-24 truncate py-1.5 text-left font-normal w-full">
                    {nameOf(row)}
                  </th>
                  <Numbers used={row.used} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Numbers({ used }: { used: Used }) {
  const count = (tokens: number) => (used.totalTokens === 0 ? <span className="text-soft">{UNKNOWN}</span> : shortCount(tokens));
  const { input, output, cachedRead = 0, cachedWrite = 0 } = used.tokens;
  return (
    <>
      <td className={`${NUMBER} @max-xl:hidden`}>{used.turns.toLocaleString("en")}</td>
      <td className={`${NUMBER} @max-xl:hidden`}>{count(input)}</td>
      <td className={`${NUMBER} @max-xl:hidden`}>{count(cachedRead + cachedWrite)}</td>
      <td className={`${NUMBER} @max-xl:hidden`}>{count(output)}</td>
      <td className={`${NUMBER} @xl:hidden`}>{count(used.totalTokens)}</td>
      <td className={`${COST} ${used.cost.length === 0 ? "text-soft" : ""}`}>{costWords(used)}</td>
    </>
  );
}
