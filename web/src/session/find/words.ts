// The words of a query that can be marked in a text, and where they stand in it.
//
// Which turns match is for the server to say; this only shows the reader where to look.

/** Filters narrow a search and are no words of it; what is left out cannot be found. */
const FILTER = /^-?(?:session|agent|project|work|file|tool|outcome|exit|role|before|after):/i;
const LETTERS = /[\p{L}\p{N}]/u;

export function wordsOf(query: string, exact: boolean): string[] {
  const text = query.trim();
  if (exact) {
    return text === "" ? [] : [text];
  }
  const pieces = [...text.matchAll(/(-?)"([^"]*)"?|\S+/g)].flatMap(([whole, minus, phrase]) => {
    if (phrase !== undefined) {
      return minus === "-" ? [] : [phrase.trim()];
    }
    return whole.startsWith("-") || FILTER.test(whole) ? [] : [whole.replace(/\*+$/, "")];
  });
  return [...new Set([...pieces, ...(pieces.length > 1 && !/["*:]|(^|\s)-/.test(text) ? [text] : [])])].filter((word) => LETTERS.test(word));
}

/** From and to of each place where a word stands, in UTF-16 units of the text, in order; the longest where several do. */
export function placesOf(text: string, words: readonly string[], exact: boolean): [number, number][] {
  if (words.length === 0) {
    return [];
  }
  const longestFirst = words.toSorted((a, b) => b.length - a.length).map(escaped);
  // Exact text is compared as the server does: letter case counts only if there is a capital in it.
  const caseCounts = exact && words.some((word) => word !== word.toLowerCase());
  const pattern = new RegExp(longestFirst.join("|"), caseCounts ? "gu" : "giu");
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => [index, index + found.length]);
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+");
}
