// A session's contents: a line a turn, from the pages that were read and the entries that came since.
//
// Invariant: turn n stands at index n - 1. What an entry said is newer than what any page says, for pages are asked for
// beside a follow that hears everything from its cursor on; so a page fills in only what no entry has told.
import type { Entry, InteractionId, Timestamp, Toc, TurnState } from "../wire/names";
import { isFor } from "./entryKinds";

export interface ContentsLine {
  readonly turn: number;
  /** What it is about; until there is a summary, its prompt's first line; null if neither is known. */
  readonly summary: string | null;
  /** It is a summary, not only the prompt. */
  readonly summed: boolean;
  /** The first line of its prompt; null if it is not known. */
  readonly prompt: string | null;
  /** Null while only something else of it is known. */
  readonly state: TurnState | null;
  readonly startedAt: Timestamp | null;
  readonly interactionId: InteractionId | null;
}

export interface Contents {
  /** A turn that nothing is known of yet has no line. */
  readonly lines: readonly (ContentsLine | undefined)[];
  /** Which pages have been read, by number. */
  readonly read: ReadonlySet<number>;
}

/** Turns of one page: as many as the server gives at once. */
export const PAGE_TURNS = 500;
const MAX_LINE_CHARS = 80;

export const EMPTY_CONTENTS: Contents = { lines: [], read: new Set() };

/** The page that a turn stands on, from 0. */
export function pageOf(turn: number): number {
  return Math.floor((turn - 1) / PAGE_TURNS);
}

/** What to ask for as `after`, for a page. */
export function cursorOf(page: number): string {
  return String(page * PAGE_TURNS);
}

export function takeToc(contents: Contents, page: number, toc: Toc): Contents {
  const lines = [...contents.lines];
  for (const { turn, id, summary, summary_by, prompt, state, created } of toc.entries) {
    const known = lines[turn - 1] ?? unknownLine(turn);
    const read = { summary, summed: summary_by !== null && summary_by !== undefined };
    lines[turn - 1] = {
      turn,
      ...(known.summary === null || (!known.summed && read.summed) ? read : { summary: known.summary, summed: known.summed }),
      prompt: known.prompt ?? prompt ?? null,
      state: known.state ?? state,
      startedAt: known.startedAt ?? created,
      interactionId: known.interactionId ?? id,
    };
  }
  return { lines: dense(lines), read: new Set(contents.read).add(page) };
}

/** Folds in the next entries of the session; the lines are copied once for all of them. */
export function applyToContents(contents: Contents, entries: readonly Entry[]): Contents {
  let lines: (ContentsLine | undefined)[] | null = null;
  const change = (turn: number, news: Partial<ContentsLine>) => {
    lines ??= [...contents.lines];
    lines[turn - 1] = { ...(lines[turn - 1] ?? unknownLine(turn)), ...news };
  };
  for (const entry of entries.filter((each) => isFor(each, "contents"))) {
    switch (entry.type) {
      case "turn.started":
        change(entry.data.turn, { state: "running", startedAt: entry.at, interactionId: entry.data.interactionId });
        break;
      case "turn.ended":
        change(entry.data.turn, { state: entry.data.outcome });
        break;
      case "prompt.sent": {
        const sent = (lines ?? contents.lines).findLast((line) => line?.interactionId === entry.data.interactionId);
        if (sent) {
          const prompt = firstLine(entry.data.text);
          change(sent.turn, sent.summed ? { prompt } : { prompt, summary: prompt });
        }
        break;
      }
      case "summary.set":
        change(entry.data.turn, { summary: entry.data.summary, summed: true });
        break;
      default:
        entry satisfies never;
    }
  }
  return lines === null ? contents : { ...contents, lines: dense(lines) };
}

/** A summary may be what the person asked, whole or from its first word that says something on. */
export function isPromptsWords(summary: string, prompt: string | null): boolean {
  const plain = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, " ").trim().toLowerCase();
  const [line, asked] = [plain(summary), plain(prompt ?? "")];
  return line !== "" && asked !== "" && (asked.includes(line) || line.startsWith(asked));
}

function firstLine(text: string): string {
  const line = text.split("\n").map((each) => each.trim()).find((each) => each !== "") ?? "";
  const characters = [...line];
  return characters.length <= MAX_LINE_CHARS ? line : `${characters.slice(0, MAX_LINE_CHARS - 1).join("").trimEnd()}…`;
}

function unknownLine(turn: number): ContentsLine {
  return { turn, summary: null, summed: false, prompt: null, state: null, startedAt: null, interactionId: null };
}

/** Without holes, which some functions of arrays pass over. */
function dense(lines: (ContentsLine | undefined)[]): readonly (ContentsLine | undefined)[] {
  return Array.from(lines);
}
