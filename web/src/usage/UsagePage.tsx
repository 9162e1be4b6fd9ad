// The page of tokens and cost: all of them, over time, and by agent, model, project and piece of work.
import { useState } from "react";

import { failureWords } from "../api/http";
import { baseName } from "../state/context";
import { costWords, isKnown, tokenWords, UNKNOWN, unknownWords, warningWords } from "../state/usageWords";
import { Alert } from "../ui/Alert";
import { counted } from "../ui/counted";
import { Icon } from "../ui/Icon";
import { Link } from "../ui/Link";
import { PathText } from "../ui/PathText";

import { shown } from "../ui/shown";
import type { UsageBy, UsagePage as Page, Used } from "../wire/usage";
import type { Range } from "./days";
import { longDay, RANGES } from "./days";
import { Plot } from "./Plot";
import { TOGGLE } from "./toggle";
import { UsageTable } from "./UsageTable";
import type { Pages } from "./useUsage";
import { useUsage } from "./useUsage";

export default function UsagePage() {
  const [days, setDays] = useState<Range>(30);
  const { pages, failure, busy } = useUsage(days);
  return (
    <div className="flex min-h-0 flex-1 flex-col" aria-busy={busy || pages === null}>
      <header className="safe-top border-b border-rule">
        <div className="beside-scrollbar">
          <div className="mx-auto flex w-full max-w-4xl items-center gap-1 px-1 py-1 md:px-8 md:py-3">
            <Link href="/" aria-label="Back to the sessions" className="inline-flex size-11 items-center justify-center rounded-lg text-soft active:bg-press md:hidden">
              <Icon name="back" />
            </Link>
            <h1 className="text-lg font-semibold tracking-tight">Usage</h1>
          </div>
        </div>
      </header>
      <div className="scrolls min-h-0 flex-1">
        <div className="mx-auto w-full max-w-4xl px-4 pt-4 pb-16 md:px-8 md:pt-6">
          <div role="group" aria-label="How far back" className="mb-5 flex gap-1">
            {RANGES.map((each) => (
              <button key={each} type="button" aria-pressed={each === days} className={TOGGLE} onClick={() => setDays(each)}>
                {each === 365 ? "1 year" : `${each} days`}
              </button>
            ))}
          </div>
          {failure !== null && <Alert className="mb-4">{failureWords(failure)}</Alert>}
          {pages === null ? failure === null && <p className="text-soft">Reading…</p> : <Found pages={pages} />}
        </div>
      </div>
    </div>
  );
}

function Found({ pages }: { pages: Pages }) {
  const { day, agent, model, project, work } = pages;
  if (day.rows.length === 0) {
    return (
      <div className="max-w-prose space-y-3 text-soft">
        <p>No turn has ended in this time.</p>
        <p>
          Tokens and cost are counted as agents report them, and read from what other tools left: <code>throughline import</code> brings that in.
        </p>
      </div>
    );
  }
  const works = work.rows.some(({ key }) => key !== null) ? work.rows : [];
  return (
    <div className="space-y-10">
      {day.today.warning && (
        <p className="border-l-2 border-warning pl-3">
          {warningWords("Today", day.today.warning)}
        </p>
      )}
      <Totals page={day} />
      <Plot page={day} />
      <div className="grid gap-x-12 gap-y-10">
        <UsageTable title="By agent" rows={agent.rows} nameOf={({ key }) => shown(key ?? UNKNOWN)} none="None." />
        <UsageTable title="By model" rows={model.rows} nameOf={({ key }) => <Name words={key} />} none="None." />
        <UsageTable title="By project" rows={project.rows} nameOf={({ key }) => <PathText path={shown(key ?? UNKNOWN)} brief={shown(baseName(key ?? UNKNOWN))} />} none="None." />
        <UsageTable title="By work" rows={works} nameOf={workName} none="No session of this time belongs to a piece of work." />
        <UsageTable title="By day" rows={day.rows} nameOf={({ key }) => longDay(key ?? "")} none="None." />
      </div>
      <p className="max-w-prose text-[0.8125rem] text-soft">
        ~ computed from tokens and prices; otherwise the agent said it. Built-in prices are those of {day.pricesAsOf}, for whoever pays by the token; write your own under <code>[prices]</code> in{" "}
        <code>config.toml</code>. Deleted sessions are not counted.
      </p>
    </div>
  );
}

function Name({ words }: { words: string | null | undefined }) {
  return words ? shown(words) : <span className="text-soft">{UNKNOWN}</span>;
}

function workName({ key, name }: UsageBy) {
  return key ? shown(name ?? "A piece of work that was deleted") : <span className="text-soft">No piece of work</span>;
}

function Totals({ page }: { page: Page }) {
  const { total, today } = page;
  const unknown = unknownWords(total);
  return (
    <div className="@container">
      {/* Where they do not fit side by side they are two columns, of which the first has what costs. */}
      <dl className="grid grid-cols-[auto_auto] justify-start gap-x-10 gap-y-4 @2xl:flex @2xl:flex-wrap">
        <Figure name="Cost" words={costWords(total)} muted={total.cost.length === 0} />
        <Figure name="Tokens" words={tokenWords(total).replace(/ tokens$/, "")} muted={total.totalTokens === 0} />
        <Figure name="Turns" words={total.turns.toLocaleString("en")} muted={false} className="@max-2xl:order-last" />
        <Figure name="Today" words={todayWords(today.used)} muted={!isKnown(today.used)} />
      </dl>
      {unknown !== null && <p className="mt-3 max-w-prose text-[0.8125rem] text-soft">{shown(unknown)}</p>}
    </div>
  );
}

function todayWords(used: Used): string {
  if (used.turns === 0) {
    return "nothing yet";
  }
  return isKnown(used) ? costWords(used) : `${counted(used.turns, "turn")}, ${UNKNOWN}`;
}

function Figure({ name, words, muted, className = "" }: { name: string; words: string; muted: boolean; className?: string }) {
  return (
    <div className={className}>
      <dt className="text-[0.8125rem] text-soft">{name}</dt>
      <dd className={`text-xl tabular-nums ${muted ? "text-soft" : "font-semibold"}`}>{words}</dd>
    </div>
  );
}
