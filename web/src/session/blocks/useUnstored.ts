// Words that are on the screen before they are stored look paler until they are, so that nobody takes for kept what a crash
// could take away.
//
// Invariant: nothing is added to the page's elements: the browser's own highlights do it, where it has them. Rather a word too
// many is pale than one too few: Markdown draws fewer characters than were written.
import type { RefObject } from "react";
import { useLayoutEffect, useRef } from "react";

const NAME = "unstored";

/** For the element of the words; `count` of their characters, at the end, are not stored. */
export function useUnstored(count: number, text: string): RefObject<HTMLDivElement | null> {
  const words = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const range = words.current === null || count === 0 || typeof Highlight === "undefined" ? null : lastCharacters(words.current, count);
    if (range === null) {
      return undefined;
    }
    const pale = CSS.highlights.get(NAME) ?? new Highlight();
    CSS.highlights.set(NAME, pale.add(range));
    return () => {
      pale.delete(range);
    };
    // Whenever other words are drawn, they end elsewhere.
  }, [count, text]);
  return words;
}

/** So many characters at the end of what is drawn below an element. */
export function lastCharacters(root: Node, count: number): Range | null {
  let end: Node = root;
  while (end.lastChild !== null) {
    end = end.lastChild;
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  walker.currentNode = end;
  const last = end instanceof Text ? end : (walker.previousNode() as Text | null);
  if (last === null) {
    return null;
  }
  const range = new Range();
  range.setEnd(last, last.data.length);
  let left = count;
  for (let node: Text | null = last; node !== null && left > 0; node = walker.previousNode() as Text | null) {
    range.setStart(node, Math.max(0, node.data.length - left));
    left -= node.data.length;
  }
  return range;
}
