// What changed between two texts, line by line, with a few unchanged lines around each change.
//
// Invariant: the lines that are not added give the old text and those not removed the new one, but for `gap`, which
// stands for that many unchanged lines. Texts too far apart are told as one removal and one addition.

export type DiffLine = { kind: "same" | "added" | "removed"; text: string } | { kind: "gap"; count: number };

export interface Diff {
  lines: DiffLine[];
  added: number;
  removed: number;
}

const AROUND = 3;
/** More comparisons than this are not worth the wait. */
const MOST_CELLS = 1_000_000;

export function lineDiff(before: string, after: string): Diff {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) {
    start++;
  }
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) {
    end++;
  }
  const changed = between(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const all: DiffLine[] = [...old.slice(0, start).map(same), ...changed, ...old.slice(old.length - end).map(same)];
  return {
    lines: withGaps(all),
    added: changed.filter(({ kind }) => kind === "added").length,
    removed: changed.filter(({ kind }) => kind === "removed").length,
  };
}

function between(old: string[], now: string[]): DiffLine[] {
  if (old.length * now.length > MOST_CELLS) {
    return [...old.map(removed), ...now.map(added)];
  }
  // common[i][j]: how many lines old[i..] and now[j..] have in common, in order.
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const here = i * width + j;
      common[here] =
        old[i] === now[j] ? (common[here + width + 1] ?? 0) + 1 : Math.max(common[here + width] ?? 0, common[here + 1] ?? 0);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [left, right] = [old[i], now[j]];
    const here = i * width + j;
    if (left !== undefined && left === right) {
      lines.push(same(left));
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || (common[here + width] ?? 0) >= (common[here + 1] ?? 0))) {
      lines.push(removed(left));
      i++;
    } else if (right !== undefined) {
      lines.push(added(right));
      j++;
    }
  }
  return lines;
}

function withGaps(lines: DiffLine[]): DiffLine[] {
  const kept: DiffLine[] = [];
  const isNear = (index: number) => lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ kind }) => kind !== "same");
  for (const [index, line] of lines.entries()) {
    const last = kept.at(-1);
    if (line.kind !== "same" || isNear(index)) {
      kept.push(line);
    } else if (last?.kind === "gap") {
      last.count++;
    } else {
      kept.push({ kind: "gap", count: 1 });
    }
  }
  return kept;
}

function linesOf(text: string): string[] {
  if (text === "") {
    return [];
  }
  return text.replace(/\n$/, "").split("\n");
}

function same(text: string): DiffLine {
  return { kind: "same", text };
}

function added(text: string): DiffLine {
  return { kind: "added", text };
}

function removed(text: string): DiffLine {
  return { kind: "removed", text };
}
