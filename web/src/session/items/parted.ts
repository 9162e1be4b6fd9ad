// Parts headings and fences from the words that an agent glued them to, so that they show as what they are.
//
// Invariant: only line breaks are added, and only outside of fences, code spans and tables; a text that is well written
// comes out as it is. The same for words that still arrive and for those of old.

interface Fence {
  sign: string;
  length: number;
}

/** The text with its headings and fences on lines of their own. */
export function parted(text: string): string {
  if (!text.includes("#") && !text.includes("```") && !text.includes("~~~")) {
    return text;
  }
  const lines = text.split("\n");
  const closings = longestClosings(lines);
  const made: string[] = [];
  let open: Fence | null = null;
  for (const [index, line] of lines.entries()) {
    if (open !== null) {
      made.push(line);
      open = isClosing(line, open) ? null : open;
      continue;
    }
    const own = openingOf(line);
    if (own !== null) {
      made.push(line);
      open = own;
      continue;
    }
    // Code by its indent, and tables, are as they were written.
    if (/^(?: {4}|\t)/.test(line) || /^\s*\|/.test(line)) {
      made.push(line);
      continue;
    }
    const fence = index + 1 < lines.length ? gluedFence(line, closings[index + 1] ?? NO_CLOSING) : null;
    // One by one: a call takes only so many arguments.
    for (const part of withHeadings(fence === null ? line : line.slice(0, fence.at))) {
      made.push(part);
    }
    if (fence !== null) {
      made.push(line.slice(fence.at));
      open = fence;
    }
  }
  return made.join("\n");
}

/** Whether what comes after this text may yet make a fence of signs at the end of one of its lines. */
export function isUndecided(text: string): boolean {
  const depends = (line: string) => openingOf(line) === null && gluedFence(line, NO_CLOSING) === null && gluedFence(line, ANY_CLOSING) !== null;
  return (text.includes("```") || text.includes("~~~")) && text.split("\n").some(depends);
}

/** The fence that a line opens at its start. */
function openingOf(line: string): Fence | null {
  const [, run = "", info = ""] = /^(?:\s*(?:[-*+>]|\d+[.)])?\s*)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  return run === "" || (run.startsWith("`") && info.includes("`")) ? null : { sign: run.charAt(0), length: run.length };
}

function isClosing(line: string, { sign, length }: Fence): boolean {
  return closingLength(line, sign) >= length;
}

/** How long the run of this sign is that is all there is of a line; 0 if something else is. */
function closingLength(line: string, sign: string): number {
  const trimmed = line.replace(/^[\s>]*/, "").trimEnd();
  return trimmed.startsWith(sign) && trimmed === sign.repeat(trimmed.length) ? trimmed.length : 0;
}

/** By sign, the longest run that is alone on a line, from each line on. */
type Longest = Readonly<Record<"`" | "~", number>>;
const NO_CLOSING: Longest = { "`": 0, "~": 0 };
const ANY_CLOSING: Longest = { "`": Infinity, "~": Infinity };

function longestClosings(lines: readonly string[]): readonly Longest[] {
  const found: Longest[] = [];
  let longest = NO_CLOSING;
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? "";
    longest = { "`": Math.max(longest["`"], closingLength(line, "`")), "~": Math.max(longest["~"], closingLength(line, "~")) };
    found[index] = longest;
  }
  return found;
}

/** The fence at the end of a line of words: it names a language, or follows a colon, or is closed further down. */
function gluedFence(line: string, below: Longest): (Fence & { at: number }) | null {
  const [, words = "", run = "", language = ""] = /^(.*?[^\s`~])\s*(`{3,}|~{3,})([\w+#.:-]*)\s*$/.exec(line) ?? [];
  if (run === "") {
    return null;
  }
  const at = line.lastIndexOf(run + language);
  // A run that closes a code span opens nothing.
  if (spansOf(line).some(([start, end]) => at >= start && at < end)) {
    return null;
  }
  const sign = run.startsWith("`") ? "`" : "~";
  const opens = language !== "" || words.endsWith(":") || below[sign] >= run.length;
  return opens ? { sign, length: run.length, at } : null;
}

/** The line, cut before each heading that is glued to the words before it. */
function withHeadings(line: string): string[] {
  const spans = spansOf(line);
  const parts: string[] = [];
  let [from, span] = [0, 0];
  // One sign needs the end of a sentence before it: `C# is` is no heading.
  for (const found of line.matchAll(/(?:[.!?:;)\]*_"”’…](?=#{1,6} \S)|[^\s#\\/&=([{"'`](?=#{2,6} \S))/g)) {
    const at = found.index + found[0].length;
    while ((spans[span]?.[1] ?? Infinity) <= at) {
      span += 1;
    }
    if (at <= (spans[span]?.[0] ?? Infinity)) {
      parts.push(line.slice(from, at), "");
      from = at;
    }
  }
  parts.push(line.slice(from));
  return parts;
}

/** The code spans of a line, from the first sign to behind the last. */
function spansOf(line: string): [number, number][] {
  const runs = [...line.matchAll(/`+/g)].map(({ index, 0: run }) => ({ at: index, length: run.length }));
  const closes = nextOfSameLength(runs);
  const spans: [number, number][] = [];
  for (let first = 0; first < runs.length; first += 1) {
    const [begins, last] = [runs[first], closes[first]];
    const ends = last === undefined ? undefined : runs[last];
    if (begins !== undefined && last !== undefined && ends !== undefined) {
      spans.push([begins.at, ends.at + ends.length]);
      first = last;
    }
  }
  return spans;
}

/** For each run, the next one that is as long. */
function nextOfSameLength(runs: readonly { length: number }[]): readonly (number | undefined)[] {
  const nearest = new Map<number, number>();
  const next: (number | undefined)[] = [];
  for (let index = runs.length - 1; index >= 0; index -= 1) {
    const length = runs[index]?.length ?? 0;
    next[index] = nearest.get(length);
    nearest.set(length, index);
  }
  return next;
}
