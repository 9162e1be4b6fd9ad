// An event model's layout: columns, tiers, and which arrows there are.
import { expect, test } from "vitest";

import type { ModelNode, Slice } from "../../wire/blocks";
import { COLUMN, layOut, TIERS } from "./eventModelLayout";

const node = (name: string, change: Partial<ModelNode> = {}): ModelNode => ({ name, new: false, fields: [], feeds: [], ...change });
const slice = (name: string, change: Partial<Slice> = {}): Slice => ({ slice: name, label: "", screen: null, command: null, events: [], projections: [], sideEffects: [], ...change });

const arrowsOf = (slices: readonly Slice[], kind: "down" | "across") =>
  layOut(slices)
    .arrows.filter((arrow) => arrow.kind === kind)
    .map(({ from, to }) => `${from} → ${to}`);

test("a column a slice, five tiers from top to bottom, nodes of a tier below one another and none over another", () => {
  const layout = layOut([
    slice("a", { screen: node("S"), command: node("C"), events: [node("E1"), node("E2"), node("E3")] }),
    slice("b", { events: [node("F")], projections: [node("P")], sideEffects: [node("X")] }),
  ]);
  expect(layout.columns.map(({ slice: name }) => name)).toEqual(["a", "b"]);
  expect(layout.tiers.map(({ tier }) => tier)).toEqual(TIERS);
  for (const { tier, y, height } of layout.tiers) {
    for (const placed of layout.nodes.filter((one) => one.tier === tier)) {
      expect(placed.y).toBeGreaterThan(y);
      expect(placed.y + placed.height).toBeLessThan(y + height);
    }
  }
  for (const one of layout.nodes) {
    expect(one.x + COLUMN).toBeLessThan(layout.width);
    const over = layout.nodes.filter((other) => other !== one && other.column === one.column && other.y < one.y + one.height && one.y < other.y + other.height);
    expect(over).toEqual([]);
  }
  expect(layout.tiers.at(-1)).toMatchObject({ y: expect.closeTo(layout.height - (layout.tiers.at(-1)?.height ?? 0)) });
});

test("a long name has more lines, up to a bound, and what stands below it makes room", () => {
  const names = ["Uploaded", "SessionAddedToPieceOfWork", "A letter is sent to everybody who asked for the result", "word ".repeat(40)];
  const { nodes } = layOut([slice("a", { events: names.map((name) => node(name)) })]);
  expect(nodes.map(({ lines }) => lines)).toEqual([1, 2, 3, 6]);
  const gaps = nodes.slice(1).map(({ y }, index) => y - (nodes[index]?.y ?? 0) - (nodes[index]?.height ?? 0));
  expect(gaps.every((gap) => Math.abs(gap - (gaps[0] ?? 0)) < 0.01)).toBe(true);
});

test("arrows lead from each filled tier to the next one that is filled", () => {
  const slices = [slice("a", { screen: node("S"), events: [node("E1"), node("E2")], sideEffects: [node("X")] }), slice("b", { projections: [node("P")] })];
  expect(arrowsOf(slices, "down")).toEqual(["0.screen.0 → 0.events.0", "0.events.1 → 0.sideEffects.0"]);
});

test("what feeds something in another slice has an arrow there, whatever the case of the name, and only once", () => {
  const slices = [
    slice("a", { events: [node("E", { feeds: ["p", " P ", "Own", "Nobody"] })], projections: [node("Own")] }),
    slice("b", { projections: [node("P")] }),
    slice("c", { screen: node("S"), projections: [node("P", { feeds: ["E"] })] }),
  ];
  expect(arrowsOf(slices, "across")).toEqual(["0.events.0 → 1.projections.0", "0.events.0 → 2.projections.0", "2.projections.0 → 0.events.0"]);
});

test("a slice's name stands for its first node", () => {
  expect(arrowsOf([slice("a", { events: [node("E", { feeds: ["B"] })] }), slice("b", { screen: node("S"), command: node("C") })], "across")).toEqual([
    "0.events.0 → 1.screen.0",
  ]);
});

test("an arrow across begins and ends at the sides that face one another, and keeps off the columns between", () => {
  const slices = [slice("a", { events: [node("E", { feeds: ["P"] })] }), slice("b", { events: [node("Between")] }), slice("c", { projections: [node("P")] })];
  const { arrows, nodes } = layOut(slices);
  const [arrow] = arrows.filter(({ kind }) => kind === "across");
  const points = [...(arrow?.path ?? "").matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
  const [from, between, to] = ["E", "Between", "P"].map((name) => nodes.find((placed) => placed.node.name === name));
  expect(points[0]?.[0]).toBeCloseTo((from?.x ?? 0) + COLUMN);
  expect(points.at(-1)?.[0]).toBeLessThan(to?.x ?? 0);
  const { x = 0, y = 0, height = 0 } = between ?? {};
  expect(points.filter(([px, py]) => px > x && px < x + COLUMN && py > y && py < y + height)).toEqual([]);
  expect(arrow?.path).not.toContain("NaN");
});

test("nothing at all, and slices that lack what they should have, are laid out too", () => {
  expect(layOut([])).toMatchObject({ columns: [], nodes: [], arrows: [] });
  const bare = { slice: "a", label: "", events: [{ name: "E" }, { name: "" }] } as unknown as Slice;
  expect(layOut([bare]).nodes.map(({ id }) => id)).toEqual(["0.events.0"]);
});

test("the same slices are laid out the same, and a hundred of them soon", () => {
  const slices = Array.from({ length: 100 }, (_, index) => slice(`s${index}`, { events: [node(`E${index}`, { feeds: [`E${(index * 7) % 100}`] })] }));
  expect(layOut(slices)).toEqual(layOut(slices));
  expect(layOut(slices).arrows.length).toBeGreaterThan(90);
});
