// How paths are shown: from the session's directory on, and told apart by no more than they need.
import { createContext, use } from "react";

/** The directory that paths are shown from; empty where there is none. */
export const DirectoryContext = createContext("");

/** Gives a path as it is shown: from the session's directory on if it lies in it. */
export function useShownPath(): (path: string) => string {
  const directory = use(DirectoryContext);
  return (path) => relativePath(path, directory);
}

export function relativePath(path: string, directory: string): string {
  const own = withSlash(directory);
  return own !== "/" && path.startsWith(own) && path.length > own.length ? path.slice(own.length) : path;
}

/** Words, with every path in them that begins with the directory shortened; a longer name that begins alike is left alone. */
export function relativeWords(words: string, directory: string): string {
  const own = withSlash(directory);
  if (own === "/" || !words.includes(own)) {
    return words;
  }
  const [first = "", ...rest] = words.split(own);
  return rest.reduce((before, after) => (/(?:^|[\s"'`“(=:,[])$/.test(before.slice(-1)) && /^[^\s/]/.test(after) ? before + after : before + own + after), first);
}

/** The path at the end of some words, with what is before it; null if they end otherwise. One pass: the words may be long. */
export function lastPath(words: string): { before: string; directory: string; name: string } | null {
  const slash = words.lastIndexOf("/");
  const name = words.slice(slash + 1);
  if (slash < 0 || name === "" || /\s/.test(name)) {
    return null;
  }
  let start = slash;
  // Up to a blank, or to a part without a name.
  while (start > 0 && !/\s/.test(words.charAt(start - 1)) && !(words[start - 1] === "/" && words[start] === "/")) {
    start -= 1;
  }
  return { before: words.slice(0, start), directory: words.slice(start, slash + 1), name };
}

/** The last parts of a path, as few as no other of these paths ends in. */
export function distinctTail(path: string, all: readonly string[]): string {
  const others = all.filter((other) => other !== path).map((other) => `/${other}`);
  const parts = path.split("/").filter((part) => part !== "");
  for (let count = 1; count < parts.length; count += 1) {
    const tail = parts.slice(-count).join("/");
    if (!others.some((other) => other.endsWith(`/${tail}`))) {
      return tail;
    }
  }
  return path;
}

function withSlash(directory: string): string {
  return `${directory.replace(/\/+$/, "")}/`;
}
