// A text cut into words and blocks: by characters as the server counts them, tolerant of spans that cannot be, and quiet
// about what is still being written.
import { expect, test } from "vitest";

import type { Block } from "../../state/transcript";
import type { Written } from "./pieces";
import { createPieces, piecesOf } from "./pieces";

const FENCE = '```throughline:next\n{"label": "Go"}\n```';

/** The block that stands for `part` of `text`, counted as the server does. */
function blockOf(text: string, part: string, nth = 1): Block {
  const start = [...text.slice(0, text.indexOf(part))].length;
  return { nth, block: 0, start, end: start + [...part].length, shown: { next: { label: "Go", command: "go", metaContext: "Loom" } } };
}

function cut(written: Partial<Written> & { text: string }): string[] {
  const pieces = piecesOf({ blocks: [], running: false, last: true, unsettled: 0, ...written });
  return pieces.map((piece) => (piece.kind === "words" ? piece.text : piece.kind === "coming" ? `<${piece.sort}>` : `[${piece.block.nth}]`));
}

test("a text without blocks is its words", () => {
  expect(cut({ text: `a\n\n${FENCE}\n\nb` })).toEqual([`a\n\n${FENCE}\n\nb`]);
});

test.each(["plain", "emoji 😀👩‍👩‍👧 and 𝔘𝔫𝔦", "e\u0301 and 漢字", "\u{10FFFF}"])("a block after %s is cut out where it stands", (before) => {
  const text = `${before}\n\n${FENCE}\nafter 😀`;
  expect(cut({ text, blocks: [blockOf(text, FENCE)] })).toEqual([`${before}\n\n`, "[1]", "\nafter 😀"]);
});

test("several blocks, in whatever order they were told; nothing but space between them is nothing", () => {
  const [one, two] = [FENCE, FENCE.replace("Go", "Stay")];
  const text = `😀${one}\n\n${two}`;
  expect(cut({ text, blocks: [blockOf(text, two, 2), blockOf(text, one, 1)] })).toEqual(["😀", "[1]", "[2]"]);
});

test("spans that cannot be leave the words as they are", () => {
  const text = "words";
  const at = (start: number, end: number) => ({ ...blockOf(text, "w"), start, end });
  expect(cut({ text, blocks: [at(3, 99), at(90, 99), at(2, 2), at(3, 1)] })).toEqual(["words"]);
  expect(cut({ text: "abcdef", blocks: [at(1, 4), at(2, 6)] })).toEqual(["a", "[1]", "ef"]);
});

test("words after a block in a list do not become code", () => {
  const indented = "    ```throughline:next\n    {}\n    ```";
  const text = `10. one\n\n${indented}\n\n    more\n      - deeper\nout\n    code`;
  expect(cut({ text, blocks: [blockOf(text, indented)] })).toEqual(["10. one\n\n", "[1]", "\n\nmore\n  - deeper\nout\n    code"]);
});

test.each([
  ["words\n```throughline:next\n{", ["words\n", "<next>"]],
  ["```conclave:Tasks extra\n[", ["<tasks>"]],
  ["~~~~throughline:usecase\n```\n~~~\n", ["<usecase>"]],
  ["done:```throughline:eventmodel\n{", ["done:", "<eventmodel>"]],
  ["words\n```thr", ["words\n"]],
  ["words\n```conclave:", ["words\n"]],
])("an open fence is told to be on its way: %j", (text, pieces) => {
  expect(cut({ text, running: true })).toEqual(pieces);
});

test.each([
  "```ts\nlet x",
  "```",
  "```throughline:other\n{",
  "````markdown\n```throughline:next\n{",
  "say `throughline:next` so",
  "| a | throughline:next |",
])("what is not ours stays as it is: %j", (text) => {
  expect(cut({ text, running: true })).toEqual([text]);
});

test("a closed fence waits for the server's word, and is code when it did not come", () => {
  const text = `${FENCE}\nmore words`;
  expect(cut({ text: FENCE, running: true })).toEqual(["<next>"]);
  expect(cut({ text, running: true, unsettled: text.length })).toEqual(["<next>"]);
  expect(cut({ text, running: true, unsettled: 4 })).toEqual([text]);
  expect(cut({ text: FENCE, running: true, last: false })).toEqual([FENCE]);
  expect(cut({ text: FENCE })).toEqual([FENCE]);
});

test("a fence that is open in a text that is over is code", () => {
  expect(cut({ text: "```throughline:next\n{", running: true, last: false })).toEqual(["```throughline:next\n{"]);
});

test("one block is known and the next on its way", () => {
  const text = `😀 ${FENCE}\nand\n${FENCE}`;
  expect(cut({ text, running: true, blocks: [blockOf(text, FENCE)] })).toEqual(["😀 ", "[1]", "\nand\n", "<next>"]);
});

test.each(["`".repeat(200_000), `\`\`\`${"a".repeat(200_000)}\``, `${"```throughline:".repeat(20_000)}\n`, "~~~\n".repeat(50_000)])(
  "a hostile text is read once through, whatever it is made of: %#",
  (text) => {
    expect(cut({ text, running: true }).join("") === text).toBe(true);
  },
);

test("a text that grows is cut as the whole of it would be, and only its end is looked through", () => {
  const text = `Words.\n\n\`\`\`ts\nlet a;\n\`\`\`\n\n${FENCE}\n\n~~~~\n\`\`\`\n~~~~\nand ${FENCE}`.repeat(3);
  const cutOn = createPieces();
  for (let end = 1; end <= text.length; end += 1) {
    const written: Written = { text: text.slice(0, end), blocks: [], running: true, last: true, unsettled: 20 };
    expect(cutOn(written)).toEqual(piecesOf(written));
  }
  const long = "Words and more.\n".repeat(10_000);
  const lines = new Set<number>();
  const watched = (words: string): string =>
    Object.assign(Object(words) as string, {
      indexOf: (sought: string, from: number) => {
        lines.add(from);
        return words.indexOf(sought, from);
      },
    });
  const grow = createPieces();
  grow({ text: long, blocks: [], running: true, last: true, unsettled: 0 });
  grow({ text: watched(`${long}And`), blocks: [], running: true, last: true, unsettled: 0 });
  expect([...lines]).toEqual([long.length]);
});
