// How full the agent's window is, and what the session has cost.
import type { Usage } from "../wire/names";

/** From here on the window is soon full. */
const NEARLY_FULL = 85;

export function UsageMeter({ usage }: { usage: Usage }) {
  const percent = usage.size > 0 ? Math.min(100, Math.round((usage.used / usage.size) * 100)) : null;
  const cost = usage.cost ? costWords(Number(usage.cost.amount), usage.cost.currency) : null;
  if (percent === null && cost === null) {
    return null;
  }
  return (
    <span className="ml-auto flex shrink-0 items-center gap-2 pl-2 tabular-nums">
      {percent !== null && (
        <>
          <span
            role="meter"
            aria-label="Window used"
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={percent}
            aria-valuetext={`${percent} % of the window`}
            title={`${count(usage.used)} of ${count(usage.size)} tokens`}
            className="h-1 w-8 overflow-hidden rounded-full bg-press md:w-14"
          >
            <span className={`block h-full rounded-full ${percent >= NEARLY_FULL ? "bg-thread" : "bg-edge"}`} style={{ width: `${percent}%` }} />
          </span>
          <span>
            {percent} %<span className="max-lg:hidden"> of the window</span>
          </span>
        </>
      )}
      {cost !== null && (
        <span className="max-md:hidden" title="Cost of the session so far">
          {cost}
        </span>
      )}
    </span>
  );
}

function count(tokens: number): string {
  return tokens.toLocaleString();
}

function costWords(amount: number, currency: string): string | null {
  if (!Number.isFinite(amount)) {
    return null;
  }
  try {
    return new Intl.NumberFormat(undefined, { style: "currency", currency, maximumFractionDigits: 2 }).format(amount);
  } catch {
    // Not a currency that the browser knows.
    return `${amount.toFixed(2)} ${currency.slice(0, 8)}`;
  }
}
