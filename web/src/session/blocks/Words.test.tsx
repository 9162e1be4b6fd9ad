// A text with blocks in it, as it is drawn: words around them, cards in their places, one event model a turn.
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test } from "vitest";

import type { Block, Shown } from "../../state/transcript";
import type { Card, Slice, Task, UseCase } from "../../wire/blocks";
import { wavesOf } from "./TasksTable";
import { turnBlocks } from "./turnBlocks";
import { Words } from "./Words";

beforeAll(() => {
  HTMLElement.prototype.showPopover ??= () => undefined;
  Element.prototype.scrollIntoView ??= () => undefined;
});
afterEach(cleanup);

const FENCE = "```throughline:x\n{}\n```";
const card = (shown: Card): Shown => ({ card: shown });

/** Words, with a block wherever one is given. */
function show(parts: (string | Shown)[], { running = false, after = "" } = {}): HTMLElement {
  let text = "";
  const blocks: Block[] = [];
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
    } else {
      const start = [...text].length;
      blocks.push({ nth: blocks.length + 1, block: 0, start, end: start + [...FENCE].length, shown: part });
      text += FENCE;
    }
  }
  return render(<Words turn={3} item={{ type: "text", block: 0, text: text + after }} blocks={turnBlocks(blocks)} running={running} last />).container;
}

const slice = (name: string, feeds: string[] = []): Slice => ({
  slice: name,
  label: "",
  screen: null,
  command: { name: `Do ${name}`, new: true, fields: [{ name: "id", type: "uuid" }], feeds: [] },
  events: [{ name: `Done ${name}`, new: false, fields: [], feeds }],
  projections: [],
  sideEffects: [],
});
const useCase: UseCase = { id: "UC-1", name: "Weave", actor: "Weaver", summary: "Cloth.", given: ["a loom"], when: ["it moves"], then: ["cloth"], priority: "high", dependencies: ["UC-0"], edgeCases: ["no yarn"] };
const task: Task = { id: "T1", name: "Warp", ucs: ["UC-1"], depends: ["T0"], wave: 1, kind: "code", create: ["src/warp.rs"], modify: [], description: "Tie it.\n<b>Well</b>" };

test("words stand around a block, whatever came before it", () => {
  const page = show(["😀 *before*\n\n", card({ kind: "usecase", useCases: [useCase] }), "\n\n**after**"]);
  expect(page.querySelector("em")?.textContent).toBe("before");
  expect(page.querySelector("strong")?.textContent).toBe("after");
  expect(page.textContent).not.toContain("throughline:x");
  expect(screen.getByRole("group", { name: "Use case UC-1 Weave" }).textContent).toContain("Givena loomWhenit movesThencloth");
});

test("a use case says how much it matters, and its edge cases open", async () => {
  const page = show([card({ kind: "usecase", useCases: [useCase] })]);
  expect(page.textContent).toContain("High priority");
  expect(page.textContent).toContain("Depends on UC-0");
  expect(page.textContent).not.toContain("no yarn");
  await userEvent.click(screen.getByRole("button", { name: "1 edge case" }));
  expect(page.textContent).toContain("no yarn");
});

test("what a card lacks is left out", () => {
  const bare = { id: "", name: "Bare", actor: "", summary: "" } as UseCase;
  const nothing = { id: "T", name: "Bare task" } as Task;
  const page = show([card({ kind: "usecase", useCases: [bare] }), card({ kind: "tasks", tasks: [nothing] })]);
  expect(page.textContent).toContain("Bare task");
  expect(page.querySelector("dl")).toBeNull();
});

test("tasks stand in their waves, and a description opens as text", async () => {
  expect(wavesOf([{ ...task, wave: null }, { ...task, wave: 2 }, task, { ...task, wave: 2 }]).map(({ wave, tasks }) => [wave, tasks.length])).toEqual([[1, 1], [2, 2], [null, 1]]);
  const page = show([card({ kind: "tasks", tasks: [task, { ...task, id: "T2", name: "Weft", wave: 2, description: "" }] })]);
  expect(screen.getAllByRole("row").map(({ textContent }) => textContent)).toEqual([
    "IdTaskKindUse casesDepends onFiles",
    "Wave 1 · 1 task",
    "T1WarpcodeUC-1T0+Creates src/warp.rs",
    "Wave 2 · 1 task",
    "T2WeftcodeUC-1T0+Creates src/warp.rs",
  ]);
  await userEvent.click(screen.getByRole("button", { name: "Warp" }));
  expect(page.textContent).toContain("Tie it.\n<b>Well</b>");
  expect(page.querySelector("b")).toBeNull();
});

test("all slices of a turn are one drawing, at the last; the others lead to it", async () => {
  show([card({ kind: "eventmodel", slices: [slice("a", ["Do b"])] }), "\n\nand\n\n", card({ kind: "eventmodel", slices: [slice("b")] })]);
  const model = screen.getByRole("figure", { name: "Event model" });
  expect(within(model).getAllByRole("button").map((node) => node.textContent)).toEqual(["Command Do a new", "Command Do b new", "Event Done a", "Event Done b"]);
  expect(within(model).getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
    "a: Command Do a (new); Event Done a, feeds Do b.",
    "b: Command Do b (new); Event Done b.",
  ]);
  expect(model.querySelectorAll('[data-kind="across"]')).toHaveLength(1);
  const link = screen.getByRole("button", { name: "See the event model below" });
  expect(link.compareDocumentPosition(model)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  await userEvent.click(link);
  expect(document.activeElement).toBe(screen.getByRole("region", { name: "Event model, drawn" }));
});

test("a node opens by key and tells its fields; Escape closes it", async () => {
  show([card({ kind: "eventmodel", slices: [slice("a")] })]);
  screen.getByRole("button", { name: "Command Do a new" }).focus();
  await userEvent.keyboard("{Enter}");
  expect(screen.getByRole("group", { name: "Do a", hidden: true }).textContent).toBe("Command of a · newDo aiduuid");
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("group", { name: "Do a", hidden: true })).toBeNull();
});

test("while more slices may come nothing is drawn that would have to move", () => {
  const page = show([card({ kind: "eventmodel", slices: [slice("a")] })], { running: true, after: "\n\n```throughline:eventmodel\n{" });
  expect(screen.queryByRole("figure")).toBeNull();
  expect(page.textContent).toBe("Slice adrawn with the rest of the event modelA slice of the event model is being written …");
});

test("what is still being written is told, and no JSON of it shown", () => {
  const page = show(["So:\n\n"], { running: true, after: '```throughline:next\n{"label"' });
  expect(page.textContent).toContain("A next step is being written …");
  expect(page.textContent).not.toContain("label");
});

test("a fence that the server did not take for a block is code, and so is a card of a sort that is not known", () => {
  show(["```throughline:next\nno json\n```"]);
  expect(screen.getByRole("figure", { name: "Code, throughline:next" }).textContent).toContain("no json");
  cleanup();
  show([{ card: { kind: "later" } } as unknown as Shown]);
  expect(screen.getByRole("figure", { name: "Code, throughline:x" })).toBeTruthy();
});
