// A text of a turn, cut into words and blocks.
//
// Invariant: what is a block is the server's word alone. Fences are looked for here only so that one that is still being
// written, or that the server has not judged yet, does not show as code for a moment; nothing in them is read.
import type { Block } from "../../state/transcript";

export type BlockSort = "next" | "usecase" | "eventmodel" | "tasks";

export type Piece =
  | { readonly kind: "words"; readonly text: string }
  /** With the words it stands for. */
  | { readonly kind: "block"; readonly block: Block; readonly text: string }
  /** One that is still to come. */
  | { readonly kind: "coming"; readonly sort: BlockSort };

export interface Written {
  text: string;
  /** Those of this text. */
  blocks: readonly Block[];
  /** Its turn runs. */
  running: boolean;
  /** Nothing has come after it in its turn. */
  last: boolean;
  /** How much of its end is not durable yet. */
  unsettled: number;
}

export function piecesOf(written: Written): readonly Piece[] {
  return createPieces()(written);
}

/** Remembers how far it has looked for fences: of a text that goes on from there only the rest is looked through. */
export function createPieces(): (written: Written) => readonly Piece[] {
  let passed = "";
  return (written) => {
    const { text, blocks, running } = written;
    if (blocks.length === 0 && !running) {
      return [{ kind: "words", text }];
    }
    const from = text.startsWith(passed) ? passed.length : 0;
    const { pieces, passedTo } = cutFrom(written, from);
    passed = text.slice(0, passedTo);
    return pieces;
  };
}

function cutFrom({ text, blocks, running, last, unsettled }: Written, passedTo: number): { pieces: readonly Piece[]; passedTo: number } {
  const pieces: Piece[] = [];
  let from = 0;
  let indent = 0;
  const addWords = (to: number) => {
    const words = outdented(text.slice(from, to), indent);
    if (words.trim() !== "") {
      pieces.push({ kind: "words", text: words });
    }
  };
  for (const { block, start, end } of placed(text, blocks)) {
    addWords(start);
    pieces.push({ kind: "block", block, text: text.slice(start, end) });
    from = end;
    indent = /^ */.exec(text.slice(start, end))?.[0].length ?? 0;
  }
  const looked = running ? findComing(text, Math.max(from, passedTo), { settled: text.length - unsettled, last }) : null;
  const coming = looked?.coming ?? null;
  addWords(coming?.start ?? text.length);
  if (coming?.sort) {
    pieces.push({ kind: "coming", sort: coming.sort });
  }
  return { pieces, passedTo: looked?.passedTo ?? passedTo };
}

/** Where each block stands in the string, which counts otherwise than the server; one that is not there is left out. */
function placed(text: string, blocks: readonly Block[]): { block: Block; start: number; end: number }[] {
  const found: { block: Block; start: number; end: number }[] = [];
  let scalars = 0;
  let unit = 0;
  const unitAt = (scalar: number): number | null => {
    for (; scalars < scalar && unit < text.length; scalars += 1) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
    }
    return scalars === scalar ? unit : null;
  };
  for (const block of [...blocks].sort((one, other) => one.start - other.start)) {
    const start = unitAt(block.start);
    const end = start === null || block.end <= block.start ? null : unitAt(block.end);
    if (start !== null && end !== null) {
      found.push({ block, start, end });
    }
  }
  return found;
}

/** Words after a block in a list are indented as it was; alone they would be code. */
function outdented(words: string, indent: number): string {
  if (indent === 0) {
    return words;
  }
  const deeper = new RegExp(`^ {${indent}}`);
  const lines = words.split("\n");
  // The first is the rest of the fence's own line.
  const stop = lines.findIndex((line, index) => index > 0 && line.trim() !== "" && !deeper.test(line));
  return lines.map((line, index) => (stop >= 0 && index >= stop ? line : line.replace(deeper, ""))).join("\n");
}

const SORTS: ReadonlyMap<string, BlockSort> = new Map((
  ["next", "usecase", "eventmodel", "tasks"] as const
).map((sort) => [sort, sort]));
const NAMES = ["throughline", "conclave"].flatMap((prefix) => [...SORTS.keys()].map((sort) => `${prefix}:${sort}`));
const OURS = /(?:throughline|conclave):[a-z]*/gi;

interface Opening {
  /** The fence itself, as ```` ``` ````. */
  mark: string;
  /** Where it begins. */
  start: number;
  /** What it says it holds. */
  name: string;
}

/** The fence that a line opens: at its start, or glued to the end of its words if it is one of ours. */
function findOpening(line: string): Opening | null {
  const indent = line.length - line.trimStart().length;
  const mark = runAt(line, indent);
  const info = line.slice(indent + mark.length);
  if (mark.length >= 3 && !info.includes("`")) {
    return { mark, start: 0, name: /^\S*/.exec(info.trimStart())?.[0] ?? "" };
  }
  const glued = [...line.matchAll(OURS)].at(-1);
  if (glued === undefined || line.includes("`", glued.index)) {
    return null;
  }
  const before = runBefore(line, glued.index);
  return before.length >= 3 ? { mark: before, start: glued.index - before.length, name: glued[0] } : null;
}

/** The backticks or tildes from there on. Counted, for a pattern would try a long line from every one of them anew. */
function runAt(line: string, at: number): string {
  let end = at;
  while (end < line.length && (line[end] === "`" || line[end] === "~") && line[end] === line[at]) {
    end += 1;
  }
  return line.slice(at, end);
}

function runBefore(line: string, end: number): string {
  let at = end;
  while (at > 0 && (line[at - 1] === "`" || line[at - 1] === "~") && line[at - 1] === line[end - 1]) {
    at -= 1;
  }
  return line.slice(at, end);
}

interface Looked {
  readonly coming: { readonly start: number; readonly sort: BlockSort | null } | null;
  /** Before this line no fence is open, and nothing that is added to the text changes that. */
  readonly passedTo: number;
}

/**
 * The first fence of ours that the server has not judged: it is open, or its end is not durable, or the text ends with it.
 * A name that is not whole has no sort yet; where it may become one of ours, the words end before it.
 */
function findComing(text: string, from: number, { settled, last }: { settled: number; last: boolean }): Looked {
  let open: { mark: string; start: number; sort: BlockSort | null } | null = null;
  let passedTo = from;
  for (let at = from; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (open === null) {
      const opening = findOpening(line);
      if (opening !== null) {
        const { mark, name } = opening;
        const start = at + opening.start;
        const sort = sortOf(name);
        if (last && newline < 0 && sort === null && name !== "" && NAMES.some((whole) => whole.startsWith(name.toLowerCase()))) {
          return { coming: { start, sort }, passedTo };
        }
        open = { mark, start, sort };
      }
    } else if (closes(line, open)) {
      if (open.sort !== null && (end > settled || (last && text.slice(end).trim() === ""))) {
        return { coming: { start: open.start, sort: open.sort }, passedTo };
      }
      open = null;
    }
    at = end + 1;
    if (open === null && newline >= 0) {
      passedTo = at;
    }
  }
  return { coming: last && open !== null && open.sort !== null ? { start: open.start, sort: open.sort } : null, passedTo };
}

/** By a fence of the same sign, as long or longer; one of ours also where it is glued to what it closes. */
function closes(line: string, { mark, sort }: { mark: string; sort: BlockSort | null }): boolean {
  const trimmed = line.trim();
  const closing = runBefore(trimmed, trimmed.length);
  return closing.startsWith(mark) && (sort !== null || closing.length === trimmed.length);
}

function sortOf(name: string): BlockSort | null {
  const [, sort = ""] = /^(?:throughline|conclave):([a-z]+)$/i.exec(name) ?? [];
  return SORTS.get(sort.toLowerCase()) ?? null;
}
