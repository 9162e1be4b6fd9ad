// Tokens and cost in small print; pressed, all that is known of them.
import { useId, useRef, useState } from "react";

import { basisWords, briefestWords, briefWords, costWords, isKnown, shortCount, UNKNOWN, unknownWords } from "../../state/usageWords";
import { Anchored } from "../../ui/Anchored";
import { shown } from "../../ui/shown";
import type { ModelUsage, Used } from "../../wire/usage";

interface UsageDetailsProps {
  used: Used;
  /** Whose it is, as in "turn 7". */
  what: string;
  models: readonly ModelUsage[];
  /** There is hardly any room for it. */
  narrow?: boolean;
  className?: string;
}

export function UsageDetails({ used, what, models, narrow = false, className = "" }: UsageDetailsProps) {
  const anchor = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const id = useId();
  const words = narrow ? briefestWords(used) : briefWords(used);
  return (
    <div
      ref={anchor}
      className={className}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.stopPropagation();
          setOpen(false);
          anchor.current?.querySelector("button")?.focus();
        }
      }}
    >
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        title={isKnown(used) ? basisWords(used) : undefined}
        className="rounded py-0.5 text-xs whitespace-nowrap text-soft tabular-nums hover:text-ink hover:underline"
        onClick={() => setOpen(!open)}
      >
        <span className="sr-only">Usage of {what}: </span>
        {words}
      </button>
      {open && (
        <Anchored id={id} anchor={anchor} side="below" label={`Usage of ${what}`} className="w-80 max-w-[calc(100vw-1rem)]" onPressElsewhere={() => setOpen(false)}>
          <div className="space-y-3 p-2.5 text-[0.8125rem]">
            <Kinds used={used} />
            {models.length > 1 && <Models models={models} />}
            {models.length === 1 && <p className="text-soft">Model: {shown(models[0]?.model ?? UNKNOWN)}</p>}
            <div className="space-y-1 text-soft">
              <p>{basisWords(used)}</p>
              {unknownWords(used) !== null && used.totalTokens > 0 && <p>{shown(unknownWords(used) ?? "")}</p>}
            </div>
          </div>
        </Anchored>
      )}
    </div>
  );
}

function Kinds({ used }: { used: Used }) {
  const { input, output, cachedRead = 0, cachedWrite = 0, thought = 0 } = used.tokens;
  const count = (tokens: number) => (used.totalTokens === 0 ? UNKNOWN : tokens.toLocaleString("en"));
  const rows: [string, string][] = [
    ["Input", count(input)],
    ...(cachedRead > 0 ? [["Read from cache", count(cachedRead)] as [string, string]] : []),
    ...(cachedWrite > 0 ? [["Written to cache", count(cachedWrite)] as [string, string]] : []),
    [thought > 0 ? `Output, ${thought.toLocaleString("en")} of it thoughts` : "Output", count(output)],
    ["Cost", costWords(used)],
  ];
  return (
    <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="text-right tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Models({ models }: { models: readonly ModelUsage[] }) {
  return (
    <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1 border-t border-rule pt-2">
      {models.map(({ model, input, output, cachedRead = 0, cachedWrite = 0 }) => (
        <div key={model ?? ""} className="contents">
          <dt className="truncate">{shown(model ?? UNKNOWN)}</dt>
          <dd className="text-right tabular-nums">{shortCount(input + output + cachedRead + cachedWrite)}</dd>
        </div>
      ))}
    </dl>
  );
}
