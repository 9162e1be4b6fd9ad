// Markdown, cut into parts that are each cheap to parse. What a parser would choke on is found beforehand, by counting:
// it stays plain.
//
// Invariant: one pass, no patterns that try twice, and no recursion, so that no text makes this slow. The parts put
// together are the text, but for blank lines between them and the fences around long code. A part depends on nothing that
// comes after it but its own end, so that earlier parts stay as they are while the text grows.

export type Part =
  /** `parsed` is what is drawn, where that is not the text alone: the rest of a table, with its head, or of a list, with its number. */
  | { readonly kind: "markdown"; readonly text: string; readonly parsed?: string; readonly weight: number }
  /** A fence too long to be looked through for anything else. */
  | { readonly kind: "code"; readonly language: string | null; readonly text: string; readonly weight: number }
  | { readonly kind: "plain"; readonly text: string; readonly why: PlainReason; readonly weight: number };

export type PlainReason = "long" | "nested";

/** About what parsing costs: a sign of Markdown and a line cost as much as so many letters. */
const LETTERS_PER_SIGN = 16;
/** A part ends with the first paragraph that makes it this heavy. */
const PART_WEIGHT = 600;
/** A paragraph that is heavier is not parsed, nor is one item of a list or one row of a table. */
const MOST_WEIGHT = 4_000;
/** A list or a table that is as heavy goes on in another part with its next item or row. */
const CUT_WEIGHT = 3_000;
/** A table whose head is heavier is not cut: each part has its head. */
const MOST_HEAD_WEIGHT = 500;
/** So many quotes and lists within one another are not parsed; each costs the parser its stack, and all before it again. */
const MOST_DEPTH = 40;
/** Signs that open what others close: in one paragraph, item or row each may be within the one before it. */
const MOST_OPENINGS = 1_200;
/** A fence with more in it is a part of its own. */
const LONG_FENCE = { characters: 12_000, lines: 300 };

const SIGN = 1;
const OPENING = 2;
const KINDS = new Uint8Array(128);
for (const sign of "\\`!()<>|#&$:@+-=.") {
  KINDS[sign.charCodeAt(0)] = SIGN;
}
for (const sign of "*_~[]") {
  KINDS[sign.charCodeAt(0)] = OPENING;
}

interface Fence {
  /** Where its first line begins. */
  start: number;
  /** Where what it holds begins. */
  inner: number;
  sign: string;
  length: number;
  indent: number;
  language: string | null;
  lines: number;
}

/** The paragraph, list, quote or table that is being read. */
interface Reading {
  readonly start: number;
  weight: number;
  /** In the paragraph, item or row that is being read, and in the one that has most. */
  openings: number;
  mostOpenings: number;
  nested: boolean;
  /** What it can be cut by; null where it is neither a list nor a table, as far as it is read. */
  shape: List | Table | null;
  /** Where the line before begins; null in its first one. */
  lineBefore: number | null;
}

interface List {
  readonly kind: "list";
  /** How far its own items are indented. */
  readonly indent: number;
  /** The number of its next item; null where its items have none. */
  next: number | null;
}

interface Table {
  readonly kind: "table";
  readonly head: string;
  readonly headWeight: number;
}

/** What a part begins with in the place of its first letters. */
interface Beginning {
  readonly words: string;
  readonly instead: number;
}

const AS_WRITTEN: Beginning = { words: "", instead: 0 };

export interface CutText {
  readonly parts: readonly Part[];
  /** Up to here, and with so many parts, nothing changes whatever is added to the text: the rest can be cut alone. */
  readonly settled: { readonly at: number; readonly parts: number };
}

export function partsOf(text: string): readonly Part[] {
  return cut(text).parts;
}

export function cut(text: string): CutText {
  const parts: Part[] = [];
  let settled = { at: 0, parts: 0 };
  const add = (part: Part) => {
    if (part.text.trim() !== "") {
      parts.push(part);
    }
  };
  /** Where the part begins that is being gathered, with what, and how heavy it is up to the paragraph that is being read. */
  let partStart = 0;
  let partBegins = AS_WRITTEN;
  let partWeight = 0;
  let block = readingFrom(0);
  let fence: Fence | null = null;

  const endPart = (end: number) => {
    const { words, instead } = partBegins;
    const own = text.slice(partStart, end);
    add({ kind: "markdown", text: own, ...(partBegins !== AS_WRITTEN && { parsed: words + own.slice(instead) }), weight: partWeight });
    [partStart, partBegins, partWeight] = [end, AS_WRITTEN, 0];
  };
  const endBlock = (end: number) => {
    const { start, weight, mostOpenings, nested } = block;
    const why = nested || mostOpenings > MOST_OPENINGS ? "nested" : weight > MOST_WEIGHT ? "long" : null;
    if (why !== null) {
      endPart(start);
      add({ kind: "plain", text: text.slice(start, end), why, weight: Math.min(weight, PART_WEIGHT) });
      [partStart, partBegins] = [end, AS_WRITTEN];
    } else {
      partWeight += weight;
      if (partWeight >= PART_WEIGHT) {
        endPart(end);
      }
    }
    block = readingFrom(end);
  };
  const settle = (at: number) => {
    if (partStart === at && at < text.length) {
      settled = { at, parts: parts.length };
    }
  };
  /** The list or table goes on in a part of its own, from this line on. */
  const cutBefore = (at: number, begins: Beginning) => {
    const { shape, lineBefore } = block;
    endBlock(at);
    endPart(at);
    partBegins = begins;
    block = { ...block, shape, lineBefore, weight: shape?.kind === "table" ? shape.headWeight : 0 };
  };

  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline + 1;
    if (fence !== null) {
      if (closes(text, at, end, fence)) {
        if (isLong(fence, at)) {
          endBlock(fence.start);
          endPart(fence.start);
          add(codeOf(text, fence, at));
          partStart = end;
          block = readingFrom(end);
          settle(end);
        }
        fence = null;
      } else {
        fence.lines += 1;
        block.weight += isLong(fence, at) ? 0 : 1 + (end - at) / LETTERS_PER_SIGN;
      }
    } else {
      const first = firstLetter(text, at, end);
      if (first === end) {
        block.weight += 1;
        // A line that is indented goes on with what is before it.
        const next = text.charCodeAt(end);
        if (end < text.length && next !== SPACE && next !== TAB && next !== NEWLINE) {
          endBlock(end);
          settle(end);
        }
      } else {
        const begins = block.weight >= CUT_WEIGHT ? beginningAt(text, at, first, end, block.shape) : null;
        if (begins !== null) {
          cutBefore(at, begins);
        }
        fence = openingOf(text, at, first, end);
        weigh(text, at, first, end, block);
        recognise(text, at, first, end, block);
      }
    }
    at = end;
  }
  if (fence !== null && isLong(fence, text.length)) {
    endBlock(fence.start);
    endPart(fence.start);
    add(codeOf(text, fence, text.length));
  } else {
    endBlock(text.length);
    endPart(text.length);
  }
  return { parts, settled };
}

function readingFrom(start: number): Reading {
  return { start, weight: 0, openings: 0, mostOpenings: 0, nested: false, shape: null, lineBefore: null };
}

/** What a part would begin with at this line; null where the list or table can not be cut before it. */
function beginningAt(text: string, at: number, first: number, end: number, shape: List | Table | null): Beginning | null {
  switch (shape?.kind) {
    case undefined:
      return null;
    case "table":
      return shape.headWeight > MOST_HEAD_WEIGHT ? null : { words: shape.head, instead: 0 };
    case "list": {
      const behind = first - at > shape.indent ? null : endOfListSign(text, first, end);
      if (behind === null) {
        return null;
      }
      const written = numberAt(text, first);
      return written === null || shape.next === null || written === shape.next
        ? AS_WRITTEN
        : { words: `${text.slice(at, first)}${shape.next}${text.charAt(behind - 1)}`, instead: behind - at };
    }
  }
}

/** Sees by this line whether a list or a table is being read, and where it ends. */
function recognise(text: string, at: number, first: number, end: number, block: Reading): void {
  const { shape, lineBefore } = block;
  block.lineBefore = at;
  const isItem = endOfListSign(text, first, end) !== null;
  switch (shape?.kind) {
    case undefined:
      if (isItem && first - at < 4) {
        const number = numberAt(text, first);
        block.shape = { kind: "list", indent: first - at, next: number === null ? null : number + 1 };
      } else if (lineBefore !== null && isUnderHead(text, first, end) && text.slice(lineBefore, at).includes("|")) {
        block.shape = { kind: "table", head: text.slice(lineBefore, end), headWeight: block.weight };
      }
      return;
    case "list":
      if (isItem && first - at <= shape.indent && shape.next !== null) {
        shape.next += 1;
      }
      return;
    case "table":
      // Whatever is no row ends it.
      if (isItem || "#>`~".includes(text[first] ?? "")) {
        block.shape = null;
      }
  }
}

/** The line between a table's head and its rows. */
function isUnderHead(text: string, first: number, end: number): boolean {
  let [bars, dashes] = [0, 0];
  for (let place = first; place < end; place += 1) {
    const letter = text[place] ?? "";
    if (!"|-: \t\r\n".includes(letter)) {
      return false;
    }
    bars += letter === "|" ? 1 : 0;
    dashes += letter === "-" ? 1 : 0;
  }
  return bars > 0 && dashes > 0;
}

function numberAt(text: string, at: number): number | null {
  const number = Number.parseInt(text.slice(at, at + 9), 10);
  return Number.isNaN(number) || number < 0 ? null : number;
}

const NEWLINE = 10;
const TAB = 9;
const SPACE = 32;

/** Where the line's first letter is; its end where it is blank. */
function firstLetter(text: string, at: number, end: number): number {
  let first = at;
  while (first < end && (text.charCodeAt(first) === SPACE || text.charCodeAt(first) === TAB || text.charCodeAt(first) === NEWLINE || text.charCodeAt(first) === 13)) {
    first += 1;
  }
  return first;
}

function weigh(text: string, at: number, first: number, end: number, block: Reading): void {
  block.weight += 1 + (end - at) / LETTERS_PER_SIGN;
  // An item or a row closes what the one before it opened.
  if (block.shape?.kind === "table" || endOfListSign(text, first, end) !== null) {
    block.openings = 0;
  }
  for (let place = first; place < end; place += 1) {
    const code = text.charCodeAt(place);
    const kind = code < 128 ? KINDS[code] : 0;
    if (kind !== 0) {
      block.weight += 1;
      block.openings += kind === OPENING ? 1 : 0;
    }
  }
  block.mostOpenings = Math.max(block.mostOpenings, block.openings);
  block.nested ||= depthOf(text, at, first, end) > MOST_DEPTH;
}

/** How many quotes and lists a line says that it is in: by the signs it begins with, and by how far a list's is indented. */
function depthOf(text: string, at: number, first: number, end: number): number {
  let depth = 0;
  let place = first;
  while (place < end) {
    const letter = text[place] ?? "";
    if (letter === ">") {
      place += 1;
    } else {
      const after = endOfListSign(text, place, end);
      if (after === null) {
        break;
      }
      place = after;
    }
    depth += 1;
    while (place < end && (text.charCodeAt(place) === SPACE || text.charCodeAt(place) === TAB)) {
      place += 1;
    }
  }
  return depth === 0 ? 0 : depth + Math.floor((first - at) / 2);
}

/** Behind `-`, `*`, `+` or `12.`, if one of them and then a space is there. */
function endOfListSign(text: string, at: number, end: number): number | null {
  let place = at;
  if ("-*+".includes(text[place] ?? " ")) {
    place += 1;
  } else {
    while (place < end && place - at < 9 && text.charCodeAt(place) >= 48 && text.charCodeAt(place) <= 57) {
      place += 1;
    }
    if (place === at || !".)".includes(text[place] ?? " ")) {
      return null;
    }
    place += 1;
  }
  const next = text.charCodeAt(place);
  return place >= end || next === SPACE || next === TAB || next === NEWLINE ? place : null;
}

function openingOf(text: string, at: number, first: number, end: number): Fence | null {
  const sign = text[first] ?? "";
  if (sign !== "`" && sign !== "~") {
    return null;
  }
  const behind = endOfRun(text, first, end);
  const info = text.slice(behind, Math.min(end, behind + 200)).trim();
  if (behind - first < 3 || (sign === "`" && text.slice(behind, end).includes("`"))) {
    return null;
  }
  return { start: at, inner: end, sign, length: behind - first, indent: first - at, language: info.split(/\s/, 1)[0] || null, lines: 0 };
}

function closes(text: string, at: number, end: number, { sign, length }: Fence): boolean {
  const first = firstLetter(text, at, end);
  if (text[first] !== sign) {
    return false;
  }
  const behind = endOfRun(text, first, end);
  return behind - first >= length && firstLetter(text, behind, end) === end;
}

/** Where the same letters end. */
function endOfRun(text: string, at: number, end: number): number {
  let place = at;
  while (place < end && text[place] === text[at]) {
    place += 1;
  }
  return place;
}

function isLong({ inner, lines }: Fence, end: number): boolean {
  return lines > LONG_FENCE.lines || end - inner > LONG_FENCE.characters;
}

function codeOf(text: string, { inner, indent, language }: Fence, end: number): Part {
  const code = text.slice(inner, end).replace(/\n$/, "");
  const outdented = indent === 0 ? code : code.replace(new RegExp(`^ {1,${indent}}`, "gm"), "");
  return { kind: "code", language, text: outdented, weight: PART_WEIGHT };
}
