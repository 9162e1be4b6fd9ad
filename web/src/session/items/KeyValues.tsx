// A value that came as JSON, as people read it: names beside values, longer ones below.
import { useMemo } from "react";

import { shown } from "../../ui/shown";
import type { Folding } from "./Output";
import { Output } from "./Output";

const SHORT = 100;
/** More names than this are shown as the JSON they came as. */
const MOST_NAMES = 24;

interface KeyValuesProps {
  label: string;
  value: unknown;
  folding?: Folding;
}

export function KeyValues({ label, value, folding = "own" }: KeyValuesProps) {
  const pairs = useMemo(() => pairsOf(value), [value]);
  return (
    <div>
      <p className="text-xs text-soft">{label}</p>
      {pairs === null ? (
        <Output text={textOf(value)} label={label} head folding={folding} />
      ) : (
        <dl className="mt-0.5 grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1 text-[0.875rem] max-md:grid-cols-1 max-md:gap-y-0">
          {pairs.map(([name, text]) => (
            <div key={name} className="contents max-md:block max-md:pb-1">
              <dt className="text-soft">{shown(name)}</dt>
              <dd className="min-w-0">
                {text.length <= SHORT && !text.includes("\n") ? (
                  <span className="verbatim font-mono text-[0.8125rem]">{shown(text)}</span>
                ) : (
                  <Output text={text} label={name} head folding={folding} />
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

function pairsOf(value: unknown): [string, string][] | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return null;
  }
  const pairs = Object.entries(value);
  return pairs.length > MOST_NAMES ? null : pairs.map(([name, inner]) => [name, textOf(inner)]);
}

function textOf(value: unknown): string {
  if (typeof value === "string") {
    return value;
  }
  return flatText(value) ?? JSON.stringify(value, null, 2);
}

/** A short list or set of names and plain values, in one line. */
function flatText(value: unknown): string | null {
  if (typeof value !== "object" || value === null) {
    return String(value);
  }
  const isPlain = (inner: unknown) => typeof inner !== "object" || inner === null;
  if (!Object.values(value).every(isPlain)) {
    return null;
  }
  const text = Array.isArray(value) ? value.join(", ") : Object.entries(value).map(([name, inner]) => `${name}: ${String(inner)}`).join(", ");
  return text.length <= SHORT ? text : null;
}
