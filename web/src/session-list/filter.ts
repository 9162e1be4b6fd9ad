// The words above the list: which of them are filters, and what completes the one that is being written.
//
// Invariant: what is no filter is a word to look for, and a filter that is half written asks for nothing yet.

export interface ListFilter {
  readonly words: readonly string[];
  /** Whether it is to be so; what is not asked for is absent. */
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly unseen?: boolean;
}

const KEY = "is:";
const VALUES = [
  { value: "archived", hint: "sessions that you archived" },
  { value: "pinned", hint: "sessions that you pinned" },
  { value: "unseen", hint: "answers that nobody has seen" },
] as const;

export function readFilter(text: string): ListFilter {
  const words: string[] = [];
  const asked: { archived?: boolean; pinned?: boolean; unseen?: boolean } = {};
  for (const word of text.split(/\s+/).filter((each) => each !== "")) {
    const { not, typed } = partsOf(word);
    const known = typed === null ? [] : VALUES.filter(({ value }) => value.startsWith(typed));
    const meant = known.find(({ value }) => value === typed);
    if (meant !== undefined) {
      asked[meant.value] = !not;
    } else if (known.length === 0) {
      words.push(word);
    }
  }
  return { words, ...asked };
}

export interface FilterCompletion {
  readonly label: string;
  readonly hint: string;
  /** The whole text with it. */
  readonly text: string;
}

/** For the last word, once it begins like a filter. */
export function completionsOf(text: string): FilterCompletion[] {
  const word = /\S*$/.exec(text)?.[0] ?? "";
  const { not, typed } = partsOf(word);
  const bare = word.replace(/^-/, "").toLowerCase();
  if (typed === null && !(bare.length >= 2 && KEY.startsWith(bare))) {
    return [];
  }
  return VALUES.filter(({ value }) => value.startsWith(typed ?? "") && value !== typed).map(({ value, hint }) => {
    const label = `${not ? "-" : ""}${KEY}${value}`;
    return { label, hint: not ? `not ${hint}` : hint, text: `${text.slice(0, text.length - word.length)}${label} ` };
  });
}

/** What follows the filter's name; null where the word is none. */
function partsOf(word: string): { not: boolean; typed: string | null } {
  const not = word.startsWith("-");
  const bare = (not ? word.slice(1) : word).toLowerCase();
  return { not, typed: bare.startsWith(KEY) ? bare.slice(KEY.length) : null };
}
