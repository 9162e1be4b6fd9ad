// A text that grows is cut as the whole of it would be, and each word costs the same however long it is already.
import { expect, test } from "vitest";

import { createGrowingParts } from "./growingParts";
import { partsOf } from "./markdownParts";
import { parted } from "./parted";

const DOCUMENT = [
  "## What changed\n\nWords, **more** words and `code`.\n\n- one\n- two\n\n  more of it\n\n",
  "```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. first\n\n   ```sh\n   make\n   ```\n\n2. second\n\n",
  "> quoted\n\n### Glued below\n\nIt ends here.## And goes on\n\nlike this:```js\nlet c;\n```\n\n",
  "A run at the end ```\nof a line\n\nand what closes it\n```\n\n",
].join("");

/** The text in pieces of uneven lengths, as models send them. */
function prefixes(text: string): string[] {
  const ends: number[] = [];
  for (let end = 1, step = 1; end < text.length; end += step, step = (step * 7) % 61) {
    ends.push(end);
  }
  return [...ends, text.length].map((end) => text.slice(0, end));
}

test.each([
  ["a document", DOCUMENT.repeat(12)],
  ["a long fence", `before\n\n\`\`\`\n${"line\n\n".repeat(2_500)}\`\`\`\nafter it\n\n${"More words.\n\n".repeat(700)}`],
  ["a long table", `| a | b |\n|---|---|\n${"| **1** | `2` |\n".repeat(900)}\nafter\n\n${"Words.\n\n".repeat(700)}`],
  ["a long list", `${"1. item\n".repeat(2_500)}\nafter\n\n${"Words.\n\n".repeat(700)}`],
  ["nothing but one paragraph", "word **bold** ".repeat(1_500)],
])("the parts of %s are those of the whole, whatever has come of it", (_, text) => {
  const cut = createGrowingParts();
  for (const prefix of prefixes(text)) {
    expect(cut(prefix).parts).toEqual(partsOf(parted(prefix)));
  }
});

test("a text that is another one is cut from its beginning", () => {
  const cut = createGrowingParts();
  cut(DOCUMENT.repeat(12));
  const other = `# Other\n\n${DOCUMENT.repeat(10)}`;
  expect(cut(other)).toMatchObject({ parts: partsOf(parted(other)), depths: "1,2,3" });
});

test("for a word that is added to a long text only its last part is read again", () => {
  const cut = createGrowingParts();
  let text = DOCUMENT.slice(0, DOCUMENT.indexOf("A run")).repeat(600);
  cut(text);
  const most = Math.max(...partsOf(parted(text)).map((part) => part.text.length));
  expect(text.length).toBeGreaterThan(50 * most);
  for (const word of ["And ", "so ", "on."]) {
    text += word;
    expect(cut(text).read).toBeLessThan(2 * most);
  }
});
