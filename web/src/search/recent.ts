// What was searched for last, in this browser.
//
// Invariant: newest first, each once, and only a search that led somewhere.

const SETTING = "throughline.searches";
const MOST = 5;

export function recentSearches(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(SETTING) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each): each is string => typeof each === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function rememberSearch(query: string): void {
  const words = query.trim();
  if (words !== "") {
    localStorage.setItem(SETTING, JSON.stringify([words, ...recentSearches().filter((each) => each !== words)].slice(0, MOST)));
  }
}

export function forgetSearches(): void {
  localStorage.removeItem(SETTING);
}
