// Long texts by pages: their room follows what is read of them.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { inApp } from "../../app/inApp";
import type { Output } from "../../wire/names";
import { PagedLines } from "./PagedLines";
import type { MarkedLines } from "./useLineLinks";

const TEXT: Output = { id: "out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958", type: "file", mimeType: "text/plain", bytes: 20_000, sha256: "00", path: "/p/a.txt" };
const MARKING: MarkedLines = { marked: null, sought: null, links: { hrefOf: (line) => `#L${line}`, press: () => undefined, name: () => undefined }, said: "" };

afterEach(cleanup);

/** A text of so many lines, of which the page was told another number before. */
function draw(lines: number, known: number | null) {
  const outputLines = (_session: string, _id: string, { first, last }: { first: number; last: number }) => {
    const numbers = Array.from({ length: Math.max(0, Math.min(last, lines) - first + 1) }, (_, index) => first + index);
    return Promise.resolve({ ok: true, value: { lines: numbers.map((number) => ({ number, text: `line ${number}` })), next: null } });
  };
  return render(<PagedLines session="s" output={{ ...TEXT, lines: known }} label="Text" marking={MARKING} extent="card" />, inApp({ http: { outputLines } }));
}

test.each([
  ["has as many lines as were counted", 700, 700, 700],
  ["was edited after its lines were counted, and got shorter", 3, 700, 3],
  ["was edited after its lines were counted, and got a little longer", 150, 3, 150],
  ["was edited after its lines were counted, and got longer by pages", 700, 3, 400],
  ["has lines that nobody counted, more than a page of them", 700, null, 400],
  ["has lines that nobody counted, fewer than a page of them", 3, null, 3],
])("a text that %s has room for what is read of it", async (_, lines, known, room) => {
  const { container } = draw(lines, known);
  await screen.findByText(/line 3/);
  expect(container.querySelector<HTMLElement>(".output-pages")?.style.height).toBe(`calc(${room} * var(--line))`);
  expect(container.querySelector<HTMLElement>("pre")?.style.getPropertyValue("--lines")).toBe(String(Math.min(room, 20)));
});
