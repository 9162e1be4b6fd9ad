// Marks words in what is drawn of the transcript, without touching it: by the browser's own highlights, where it has them.
//
// Invariant: nothing is added to the page's elements; when the marking stops, no trace is left.
import { placesOf } from "./words";

const NAME = "found";
/** More than this helps nobody and costs. */
const MOST_RANGES = 2_000;
/** Words do not run on from one of these to the next. */
const BLOCKS = "p, li, pre, h1, h2, h3, h4, h5, h6, td, th, blockquote, button, header, figure, article";

/** Marks the words below `root`, and again whenever something changes there; gives a way to stop. */
export function keepMarked(root: Element, words: readonly string[], exact: boolean): () => void {
  if (typeof Highlight === "undefined" || words.length === 0) {
    return () => undefined;
  }
  let frame = 0;
  const mark = () => {
    frame = 0;
    const ranges = [...root.querySelectorAll("article")].flatMap((article) => rangesIn(article, words, exact));
    CSS.highlights.set(NAME, new Highlight(...ranges.slice(0, MOST_RANGES)));
  };
  const markSoon = () => {
    frame ||= requestAnimationFrame(mark);
  };
  const watch = new MutationObserver(markSoon);
  watch.observe(root, { childList: true, subtree: true, characterData: true });
  mark();
  return () => {
    cancelAnimationFrame(frame);
    watch.disconnect();
    CSS.highlights.delete(NAME);
  };
}

function rangesIn(article: Element, words: readonly string[], exact: boolean): Range[] {
  const nodes: { node: Text; from: number }[] = [];
  let text = "";
  let block: Element | null = null;
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const around: Element | null = node.parentElement?.closest(BLOCKS) ?? null;
    if (around !== block && text !== "") {
      // No word has this sign in it.
      text += "\u0000";
    }
    block = around;
    nodes.push({ node: node as Text, from: text.length });
    text += (node as Text).data;
  }
  return placesOf(text, words, exact).flatMap(([from, to]) => {
    const start = nodes.findLast((each) => each.from <= from);
    const end = nodes.findLast((each) => each.from < to);
    if (start === undefined || end === undefined) {
      return [];
    }
    const range = new Range();
    range.setStart(start.node, from - start.from);
    range.setEnd(end.node, Math.min(to - end.from, end.node.data.length));
    return [range];
  });
}
