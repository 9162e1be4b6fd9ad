// How full the agent's window is.
import type { Usage } from "../../wire/names";

/** From here on the window is soon full. */
const NEARLY_FULL = 85;

/** Where there is room for words. */
export function UsageMeter({ usage }: { usage: Usage }) {
  const percent = percentOf(usage);
  if (percent === null) {
    return null;
  }
  return (
    <span className="flex shrink-0 items-baseline gap-2 tabular-nums max-lg:hidden">
      <Meter usage={usage} percent={percent} className="h-1 w-14 self-center rounded-full bg-press" />
      <span title={`${percentWords(percent)} of the context window`}>{percentWords(percent)}</span>
    </span>
  );
}

/** Where there is none: a line along the edge. */
export function UsageLine({ usage }: { usage: Usage }) {
  const percent = percentOf(usage);
  return percent === null ? null : <Meter usage={usage} percent={percent} className="absolute inset-x-0 -bottom-px h-0.5 lg:hidden" />;
}

function Meter({ usage, percent, className }: { usage: Usage; percent: number; className: string }) {
  return (
    <span
      role="meter"
      aria-label="Context window used"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={`${percentWords(percent)} of the context window`}
      title={`${percentWords(percent)} of the context window: ${count(usage.used)} of ${count(usage.size)} tokens`}
      className={`block overflow-hidden ${className}`}
    >
      <span className={`block h-full ${percent >= NEARLY_FULL ? "bg-warning" : "bg-edge"}`} style={{ width: `${percent}%` }} />
    </span>
  );
}

/** Null where nothing is known: an agent that has not counted yet tells of none used. */
function percentOf({ used, size }: Usage): number | null {
  return size > 0 && used > 0 ? Math.min(100, Math.round((used / size) * 100)) : null;
}

function percentWords(percent: number): string {
  return percent === 0 ? "< 1 %" : `${percent} %`;
}

function count(tokens: number): string {
  return tokens.toLocaleString();
}
