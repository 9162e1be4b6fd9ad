// The parts of a text that grows, cut again only from the last place where nothing can change any more.
//
// Invariant: the parts are those of the whole text, however it came; what an answer's next word costs does not grow with
// the answer.
import type { Part } from "./markdownParts";
import { cut } from "./markdownParts";
import { isUndecided, parted } from "./parted";

/** A longer text is drawn as it was written, without looking for headings and fences that are glued to other words. */
const MOST_PARTED = 200_000;

export interface DrawnText {
  readonly parts: readonly Part[];
  /** The depths of its headings, as `2,3`: one value, so that parts which stay the same are not drawn again for it. */
  readonly depths: string;
  /** How many letters were read to know this. */
  readonly read: number;
}

interface Settled {
  readonly text: string;
  readonly isParted: boolean;
  readonly parts: readonly Part[];
  readonly depths: ReadonlySet<number>;
}

const NOTHING: Settled = { text: "", isParted: true, parts: [], depths: new Set() };

/** Remembers what it was given last; any text may follow, but one that goes on from there is cheap. */
export function createGrowingParts(): (text: string) => DrawnText {
  let settled = NOTHING;
  return (text) => {
    const isParted = text.length <= MOST_PARTED;
    if (settled.isParted !== isParted || !text.startsWith(settled.text)) {
      settled = { ...NOTHING, isParted };
    }
    const before = settled;
    const rest = text.slice(before.text.length);
    const made = isParted ? parted(rest) : rest;
    const found = cut(made);
    const head = made.slice(0, found.settled.at);
    if (head !== "" && !(isParted && isUndecided(head))) {
      const written = rest.slice(0, lengthWritten(rest, head));
      settled = {
        text: before.text + written,
        isParted,
        parts: [...before.parts, ...found.parts.slice(0, found.settled.parts)],
        depths: new Set([...before.depths, ...depthsOf(written)]),
      };
    }
    const depths = new Set([...before.depths, ...depthsOf(rest)]);
    return { parts: [...before.parts, ...found.parts], depths: [...depths].toSorted().join(), read: rest.length };
  };
}

/** How much of the text became this beginning, to which line breaks were added. */
function lengthWritten(text: string, made: string): number {
  if (text.startsWith(made)) {
    return made.length;
  }
  let at = 0;
  for (let place = 0; place < made.length; place += 1) {
    at += made[place] === text[at] ? 1 : 0;
  }
  return at;
}

function depthsOf(text: string): number[] {
  return [...text.matchAll(/^ {0,3}(#{1,6})[ \t]/gm)].map(([, signs = ""]) => signs.length);
}
