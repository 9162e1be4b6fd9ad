// Which parts of a long text are drawn before anybody asks for more.
import type { Part } from "./markdownParts";

/** How much is drawn without being asked for. */
const AT_ONCE = 3_000;

export interface ShownParts {
  readonly beginning: readonly Part[];
  /** What stands between, not drawn: how many letters. */
  readonly left: number;
  readonly end: readonly Part[];
}

/** The beginning, and the end, where an answer says what came of it; what is between them is shown when it is asked for. */
export function shownOf(parts: readonly Part[], times: number): ShownParts {
  let weight = 0;
  let count = 0;
  while (count < parts.length && weight < AT_ONCE * times) {
    weight += parts[count]?.weight ?? 0;
    count += 1;
  }
  if (count >= parts.length - 1) {
    return { beginning: parts, left: 0, end: [] };
  }
  const left = parts.slice(count, -1).reduce((sum, { text }) => sum + text.length, 0);
  return { beginning: parts.slice(0, count), left, end: parts.slice(-1) };
}
