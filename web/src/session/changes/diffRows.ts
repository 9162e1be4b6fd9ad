// The lines of a diff with their numbers, as they are drawn and as they are quoted.
import type { DiffHunk, LineKind } from "../../wire/names";

export interface NumberedLine {
  /** Its place among all lines of the diff. */
  readonly index: number;
  /** Its hunk's place among the hunks: between two of them lines are left out. */
  readonly hunk: number;
  readonly kind: LineKind;
  readonly text: string;
  readonly oldNumber: number | null;
  readonly newNumber: number | null;
}

/** A row of two columns. */
export interface SplitRow {
  readonly old: NumberedLine | null;
  readonly new: NumberedLine | null;
}

export function numbered(hunks: readonly DiffHunk[]): NumberedLine[] {
  const lines: NumberedLine[] = [];
  hunks.forEach(({ oldStart, newStart, lines: of }, hunk) => {
    let [before, after] = [oldStart, newStart];
    for (const { kind, text } of of) {
      lines.push({
        index: lines.length,
        hunk,
        kind,
        text,
        oldNumber: kind === "added" ? null : before,
        newNumber: kind === "removed" ? null : after,
      });
      before += kind === "added" ? 0 : 1;
      after += kind === "removed" ? 0 : 1;
    }
  });
  return lines;
}

/** Where a line of an earlier drawing stands now; null if it does not. */
export function positionOf(lines: readonly NumberedLine[], line: NumberedLine): number | null {
  const isIt = (other: NumberedLine | undefined) =>
    other !== undefined && other.kind === line.kind && other.text === line.text && other.oldNumber === line.oldNumber && other.newNumber === line.newNumber;
  if (isIt(lines[line.index])) {
    return line.index;
  }
  const at = lines.findIndex(isIt);
  return at < 0 ? null : at;
}

/** Lines that went stand beside those that came for them. */
export function splitRows(lines: readonly NumberedLine[]): SplitRow[] {
  const rows: SplitRow[] = [];
  let [gone, come]: [NumberedLine[], NumberedLine[]] = [[], []];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at += 1) {
      rows.push({ old: gone[at] ?? null, new: come[at] ?? null });
    }
    [gone, come] = [[], []];
  };
  for (const line of lines) {
    const last = come.at(-1) ?? gone.at(-1);
    if (line.kind === "same" || (last !== undefined && last.hunk !== line.hunk) || (line.kind === "removed" && come.length > 0)) {
      flush();
    }
    if (line.kind === "same") {
      rows.push({ old: line, new: line });
    } else {
      (line.kind === "removed" ? gone : come).push(line);
    }
  }
  flush();
  return rows;
}

/** Where some lines are: by the numbers that they have now, or had, where all of them are gone. */
export function placeOfLines(lines: readonly NumberedLine[]): string {
  const now = lines.flatMap(({ newNumber }) => newNumber ?? []);
  const numbers = now.length > 0 ? now : lines.flatMap(({ oldNumber }) => oldNumber ?? []);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const range = first === last ? `${first}` : `${first}-${last}`;
  return now.length > 0 ? range : `${range} (removed)`;
}

const SIGNS: Record<LineKind, string> = { same: " ", removed: "-", added: "+" };

/** A comment on some lines, as it goes into the next prompt. */
export function quoted(name: string, lines: readonly NumberedLine[], comment: string): string {
  const isPlain = lines.every(({ kind }) => kind === lines[0]?.kind);
  const quote = lines.map(({ kind, text }) => `> ${isPlain ? "" : SIGNS[kind]}${text}`.trimEnd());
  return [`${name}:${placeOfLines(lines)}`, ...quote, comment.trim()].filter((line) => line !== "").join("\n");
}
