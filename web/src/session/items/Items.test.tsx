// A turn's items together: folds, the plan, asides, and turns that are very long.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { Item, ToolCall } from "../../state/transcript";
import { SoughtContext } from "../../ui/place";
import type { PermissionAnswer } from "../../wire/names";
import { FoundContext } from "../find/found";
import { ResumeCard } from "./Asides";
import { Items } from "./Items";
import { Pictures } from "./Pictures";

const actions = { answer: vi.fn(), stop: vi.fn(), readLarge: vi.fn() };
const rest = { turn: 1, session: "s", past: null, blocks: [], running: false, answeredAt: new Map<number, string>(), actions, now: 0 };

function step(tool: number, change: Partial<ToolCall> = {}): ToolCall {
  const common = { type: "tool" as const, name: null, content: [], locations: [], input: null, output: null };
  return { ...common, tool, callId: `c${tool}`, title: `Read ${tool}`, kind: "read", status: "completed", ...change };
}

const steps = (count: number) => Array.from({ length: count }, (_, index) => step(index + 1));

afterEach(cleanup);

test("a thought is one line that opens by key", async () => {
  const { container } = render(<Items items={[{ type: "thought", block: 0, text: "<b>hm</b>" }]} {...rest} />);
  expect(container.textContent).toBe("Thought for a moment");
  await userEvent.tab();
  await userEvent.keyboard("{Enter}");
  expect(container.textContent).toContain("<b>hm</b>");
});

test("a long run of steps is one line, which says what failed and opens", async () => {
  const items: Item[] = [...steps(11), step(12, { kind: "execute", status: "failed" }), { type: "text", block: 0, text: "Done." }];
  const { container } = render(<Items items={items} {...rest} />);
  expect(container.textContent).toBe("12 steps11 reads, 1 command1 failedDone.");
  await userEvent.click(screen.getByRole("button"));
  expect(screen.getAllByRole("group", { name: /^Step/ })).toHaveLength(12);
});

test("steps that come while they are watched do not fold away", () => {
  const { rerender } = render(<Items items={steps(3)} {...rest} running />);
  rerender(<Items items={steps(30)} {...rest} running />);
  expect(screen.getAllByRole("group", { name: /^Step/ })).toHaveLength(30);
});

test("a step that runs is not folded with those before it", () => {
  const { container } = render(<Items items={[...steps(12), step(13, { status: "running" })]} {...rest} running />);
  expect(container.textContent).toBe("12 steps12 readsRead: Read 13Running");
});

test("a call that is asked about is drawn by its question alone, and by itself once that is answered", () => {
  const call = step(1, { kind: "execute", status: "pending", title: "`make all`", input: { command: "make all" } });
  const asked = { type: "permission" as const, request: 1, tool: 1, title: "make all", kind: "execute" as const, subject: "make all", options: [] };
  const { container, rerender } = render(<Items items={[call, { ...asked, answer: null }]} {...rest} running />);
  expect(container.textContent?.split("make all")).toHaveLength(2);
  expect(container.querySelector('[data-tool="1"] [data-question]')).not.toBeNull();
  rerender(<Items items={[call, { ...asked, answer: { by: { type: "nobody" } } }]} {...rest} running />);
  expect(screen.getByRole("group", { name: "Step 1: `make all`" })).toBeTruthy();
});

test("a turn of a thousand parts shows its end, and the rest on request", async () => {
  const items = Array.from({ length: 500 }, (_, index): Item[] => [{ type: "text", block: index, text: `words ${index}` }, step(index + 1)]).flat();
  const { container } = render(<Items items={items} {...rest} />);
  expect(container.textContent).toContain("words 499");
  expect(container.textContent).not.toContain("words 0");
  expect(container.querySelectorAll("*").length).toBeLessThan(1_500);
  await userEvent.click(screen.getByRole("button", { name: "Show 960 earlier parts of this turn" }));
  expect(screen.getByRole("button", { name: "Show 860 earlier parts of this turn" })).toBeTruthy();
});

test("while a call is asked about, its question shows what is known of it, and its own card is closed", () => {
  const content: ToolCall["content"] = [{ type: "diff", path: "/p/a.rs", oldText: "one\n", newText: "two\n" }];
  const question = { type: "permission" as const, request: 1, tool: 1, title: "Edit", kind: "edit" as const, subject: "/p/a.rs", options: [] };
  const items = (answer: PermissionAnswer | null): Item[] => [step(1, { kind: "edit", status: "pending", content }), { ...question, answer }];
  const { container, rerender } = render(<Items items={items(null)} {...rest} running />);
  expect(container.querySelectorAll(".diff")).toHaveLength(1);
  expect(container.querySelector(".card-asking .diff")).not.toBeNull();
  rerender(<Items items={items({ option: "y", kind: "allow_once", by: { type: "person", name: "phone" } })} {...rest} running />);
  expect(container.querySelectorAll(".diff")).toHaveLength(1);
  expect(container.querySelector(".card-asking")).toBeNull();
});

test("a plan is a list whose steps stand in words", () => {
  render(
    <Items
      items={[
        {
          type: "plan",
          steps: [
            { text: "Read", status: "completed", priority: "medium" },
            { text: "<i>Mend</i>", status: "running", priority: "high" },
            { text: "Rest", status: "pending", priority: "low" },
          ],
        },
      ]}
      {...rest}
    />,
  );
  expect(screen.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
    "Done: Read",
    "In progress: <i>Mend</i>In progress · high priority",
    "To do: Rest",
  ]);
  expect(screen.getByText("1 of 3 done")).toBeTruthy();
});

test("a call that is sought stands open, wherever it was folded", () => {
  const items = [...steps(12), { type: "text" as const, block: 0, text: "said" }];
  const { container, rerender } = render(<Items items={items} {...rest} />);
  expect(container.querySelector('[data-tool="3"]')).toBeNull();
  const seeking = (turn: number) => (
    <SoughtContext value={{ turn, tool: 3 }}>
      <Items items={items} {...rest} />
    </SoughtContext>
  );
  rerender(seeking(2));
  expect(container.querySelector('[data-tool="3"]')).toBeNull();
  rerender(seeking(1));
  expect(container.querySelector('[data-tool="3"]')).not.toBeNull();
});

test("a call that is asked for stands open, in a run or alone, until it is folded again or asked for anew", async () => {
  const told: ToolCall["content"] = [{ type: "text", text: "the shuttle is worn" }];
  const items: Item[] = [...steps(11), step(12, { content: told }), { type: "text", block: 0, text: "Done." }, step(13, { content: told })];
  const at = (tool: number | null) => (
    <SoughtContext value={tool === null ? null : { turn: 1, tool }}>
      <Items items={items} {...rest} />
    </SoughtContext>
  );
  const { container, rerender } = render(at(null));
  const line = (tool: number) => container.querySelector(`[data-tool="${tool}"] button`);
  const isOpen = (tool: number) => line(tool)?.getAttribute("aria-expanded");
  expect([isOpen(12), isOpen(13)]).toEqual([undefined, "false"]);
  rerender(at(12));
  expect([isOpen(12), isOpen(13)]).toEqual(["true", "false"]);
  // What was opened does not fold when something else is asked for.
  rerender(at(13));
  expect([isOpen(12), isOpen(13)]).toEqual(["true", "true"]);
  await userEvent.click(line(13) as Element);
  expect(isOpen(13)).toBe("false");
  rerender(at(13));
  expect(isOpen(13)).toBe("true");
});

test("what is found opens the calls that hold all of it, in the turn that the reader was taken to", () => {
  const said = (text: string): ToolCall["content"] => [{ type: "text", text }];
  const items = [step(1, { content: said("the worn shuttle") }), step(2, { content: said("a shuttle") }), step(3, { input: { deep: ["shuttle", "is worn"] } })];
  const looking = (turn: number) => (
    <FoundContext value={{ turn, query: "shuttle worn", exact: false }}>
      <Items items={items} {...rest} />
    </FoundContext>
  );
  const { container, rerender } = render(looking(2));
  const open = () => [1, 2, 3].map((tool) => container.querySelector(`[data-tool="${tool}"] button`)?.getAttribute("aria-expanded"));
  expect(open()).toEqual(["false", "false", "false"]);
  rerender(looking(1));
  expect(open()).toEqual(["true", "false", "true"]);
});

test("notices tell how urgent they are, and a compaction is marked", async () => {
  const items: Item[] = [
    { type: "notice", severity: "warning", title: "Slow", description: "Until noon" },
    { type: "compaction", summary: "All of it" },
    { type: "compaction", summary: null },
  ];
  const { container } = render(<Items items={items} {...rest} />);
  expect(container.textContent).toContain("Warning. SlowUntil noon");
  expect(screen.getAllByText("The agent put its memory together here; what is above it is only summarised for it.")).toHaveLength(2);
  await userEvent.click(screen.getByRole("button"));
  expect(container.textContent).toContain("All of it");
});

test("what the agent was told is folded and not the person's words", async () => {
  const { container } = render(<ResumeCard from={null} text={"Turn 1: <b>x</b>\u202E"} />);
  expect(container.textContent).not.toContain("Turn 1");
  await userEvent.click(screen.getByRole("button", { name: /What the agent was told/ }));
  expect(container.textContent).toContain("You did not write it.");
  expect(container.textContent).toContain("Turn 1: <b>x</b>⟨U+202E⟩");
});

test("a prompt's picture opens larger", async () => {
  render(<Pictures images={[{ mimeType: "image/png", data: "AAAA" }]} />);
  await userEvent.click(screen.getByRole("button", { name: "Picture, show larger" }));
  expect(screen.getByRole("img", { name: "Picture", hidden: true }).getAttribute("src")).toBe("data:image/png;base64,AAAA");
});

test("an item that cannot be drawn shows its text plain, and the others stand", () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const broken = { ...step(1), title: "Read it", locations: null as never };
  const { container } = render(<Items items={[{ type: "text", block: 0, text: "before" }, broken, { type: "text", block: 1, text: "after" }]} {...rest} />);
  expect(container.textContent).toBe("beforeThis could not be drawn; its text is shown plain. Try againRead itafter");
});

test("a part that is too long says so, and is read when it is asked for", async () => {
  actions.readLarge.mockResolvedValueOnce({ ok: false, failure: { kind: "unreachable" } });
  render(<Items items={[{ type: "large", seq: 7, kind: "text.part", bytes: 14_680_064 }]} {...rest} />);
  expect(screen.getByText(/very long \(14\.7 MB\)/)).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Read it" }));
  expect(actions.readLarge.mock.calls).toEqual([[7]]);
  expect(screen.getByRole("alert").textContent).not.toBe("");
});

test("what only a newer server knows is one muted line, and hidden characters of its kind are seen", () => {
  const items: Item[] = [{ type: "newer", kind: "song\u202E.part", count: 2 }, { type: "newer", kind: "song.ended", count: 1 }];
  const { container } = render(<Items items={items} {...rest} />);
  expect(container.textContent).toBe("Made by a newer version: song⟨U+202E⟩.part (2 times)Made by a newer version: song.ended");
});
