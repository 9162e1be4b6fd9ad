// Usage over time, a bar a day. The table beside it says the same to those who can not see it.
import { useId, useState } from "react";

import { costWords, tokenWords } from "../state/usageWords";
import type { UsagePage } from "../wire/usage";
import { daysBetween, longDay, shortDay } from "./days";
import type { Bar, Measure } from "./plot";
import { barsOf, plotCurrency } from "./plot";
import { TOGGLE } from "./toggle";

const WIDTH = 720;
const HEIGHT = 160;
/** A bar that is there can be seen. */
const LEAST = 2;

export function Plot({ page }: { page: UsagePage }) {
  const hasCost = plotCurrency(page.rows) !== null;
  const [wanted, setMeasure] = useState<Measure>("cost");
  const measure = hasCost ? wanted : "tokens";
  const days = daysBetween(page.from, page.to);
  const bars = barsOf(days, page.rows, measure);
  const [at, setAt] = useState<string | null>(null);
  const looked = bars.find(({ day }) => day === at) ?? null;
  // Without a scale the highest bar tells how high the others are.
  const highest = bars.find(({ height }) => height === 1) ?? null;
  const name = useId();
  return (
    <figure aria-labelledby={name}>
      <figcaption className="mb-2 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span id={name} className="text-[0.9375rem] font-semibold">
          {measure === "cost" ? "Cost by day" : "Tokens by day"}
        </span>
        {hasCost && (
          <span role="group" aria-label="Measure" className="flex gap-1">
            {(["cost", "tokens"] as const).map((each) => (
              <button key={each} type="button" aria-pressed={measure === each} className={TOGGLE} onClick={() => setMeasure(each)}>
                {each === "cost" ? "Cost" : "Tokens"}
              </button>
            ))}
          </span>
        )}
      </figcaption>
      <p aria-hidden="true" className="h-5 text-[0.8125rem] text-soft tabular-nums">
        {looked !== null ? barWords(looked) : highest !== null ? highestWords(highest, measure) : ""}
      </p>
      <svg aria-hidden="true" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" className="block h-40 w-full" onPointerLeave={() => setAt(null)}>
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className="stroke-rule" />
        {bars.map((bar, nth) => (
          <BarShape key={bar.day} bar={bar} x={(nth * WIDTH) / bars.length} width={WIDTH / bars.length} lit={bar.day === at} onLook={() => setAt(bar.day)} />
        ))}
      </svg>
      <div aria-hidden="true" className="mt-1 flex justify-between text-xs text-soft tabular-nums">
        <span>{shortDay(page.from)}</span>
        <span>{shortDay(page.to)}</span>
      </div>
    </figure>
  );
}

function barWords({ day, used }: Bar): string {
  return used === null ? `${longDay(day)}: nothing` : `${longDay(day)}: ${tokenWords(used)}, cost ${costWords(used)}`;
}

/** In few words: it stands there always, also on a phone. */
function highestWords({ day, used }: Bar, measure: Measure): string {
  return used === null ? "" : `Highest: ${measure === "cost" ? costWords(used) : tokenWords(used)} on ${shortDay(day)}`;
}

interface BarShapeProps {
  bar: Bar;
  x: number;
  width: number;
  lit: boolean;
  onLook(): void;
}

function BarShape({ bar, x, width, lit, onLook }: BarShapeProps) {
  const gap = Math.min(2, width / 5);
  const height = bar.height === null ? LEAST * 2 : bar.height === 0 ? 0 : Math.max(LEAST, bar.height * (HEIGHT - 4));
  return (
    <g onPointerEnter={onLook} onPointerDown={onLook}>
      <rect x={x} y="0" width={width} height={HEIGHT} className={lit ? "fill-press" : "fill-transparent"} />
      <rect
        x={x + gap / 2}
        y={HEIGHT - 1 - height}
        width={Math.max(width - gap, 0.5)}
        height={height}
        className={bar.height === null ? "fill-transparent stroke-edge" : "fill-edge"}
        strokeDasharray={bar.height === null ? "2 2" : undefined}
      />
    </g>
  );
}
