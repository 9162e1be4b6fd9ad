// Where everything of an event model stands: a column a slice, five tiers, arrows down each column and across by what
// feeds what. Lengths are in rem, so that it grows with the reader's letters.
//
// Invariant: pure, and the same for the same slices. Arrows across run between the columns and along the tiers' heads,
// where no node stands.
import { namePartsOf } from "../../ui/breaks";
import type { ModelNode, Slice } from "../../wire/blocks";

export const TIERS = ["screen", "command", "events", "projections", "sideEffects"] as const;

export type Tier = (typeof TIERS)[number];

export const TIER_NAMES: Readonly<Record<Tier, { one: string; all: string }>> = {
  screen: { one: "Screen", all: "Screen" },
  command: { one: "Command", all: "Command" },
  events: { one: "Event", all: "Events" },
  projections: { one: "Projection", all: "Projections" },
  sideEffects: { one: "Side effect", all: "Side effects" },
};

export interface PlacedNode {
  /** As `column.tier.place`. */
  id: string;
  tier: Tier;
  column: number;
  node: ModelNode;
  x: number;
  y: number;
  height: number;
  /** How many lines its name has room for. */
  lines: number;
}

export interface Arrow {
  kind: "down" | "across";
  from: string;
  to: string;
  /** An SVG path, and the head at its end. */
  path: string;
  head: string;
}

export interface EventModelLayout {
  columns: { slice: string; label: string; x: number; lines: number }[];
  /** How high the heads of the columns are. */
  head: number;
  tiers: { tier: Tier; y: number; height: number }[];
  nodes: PlacedNode[];
  arrows: Arrow[];
  width: number;
  height: number;
}

export const COLUMN = 11.5;
const LOWEST_NODE = 2.75;
/** A line of a name, and what is above and below all of them: there the badge reaches in. */
const LINE = 1.02;
const AROUND = 1.3;
/** So many letters of a wide typeface fit a line, and a line of a column's head. */
const LINE_LETTERS = 20;
const HEAD_LETTERS = 18;
const HEAD_LINE = 1.14;
/** The line below a label, which says the slice's name, and what is around both. */
const AROUND_HEAD = 2;
/** What has more is cut; it is whole where the node is opened. */
const MOST_LINES = 6;
const GUTTER = 2.25;
const GAP = 0.75;
const TIER_HEAD = 1.75;
const TIER_FOOT = 0.75;
const LANES = 5;
const HEAD = 0.35;
const CORNER = 0.4;

export function layOut(slices: readonly Slice[]): EventModelLayout {
  const columns = slices.map(({ slice, label }, index) => ({ slice, label, x: GUTTER + index * (COLUMN + GUTTER), lines: linesOf(label || slice, HEAD_LETTERS) }));
  const head = Math.max(1, ...columns.map(({ lines }) => lines)) * HEAD_LINE + AROUND_HEAD;
  const tiers: EventModelLayout["tiers"] = [];
  const nodes: PlacedNode[] = [];
  let y = head;
  for (const tier of TIERS) {
    let bottom = y + TIER_HEAD;
    slices.forEach((slice, column) => {
      const { x } = columns[column] ?? { x: 0 };
      let top = y + TIER_HEAD;
      nodesOf(slice, tier).forEach((node, place) => {
        const lines = linesOf(node.name, LINE_LETTERS);
        const height = Math.max(LOWEST_NODE, lines * LINE + AROUND);
        nodes.push({ id: `${column}.${tier}.${place}`, tier, column, node, x, y: top, height, lines });
        bottom = Math.max(bottom, top + height + TIER_FOOT);
        top += height + GAP;
      });
    });
    const height = bottom - y;
    tiers.push({ tier, y, height });
    y += height;
  }
  return {
    columns,
    head,
    tiers,
    nodes,
    arrows: [...columns.flatMap((_, column) => downs(nodes, column)), ...across(nodes, slices, tiers)],
    width: GUTTER + columns.length * (COLUMN + GUTTER),
    height: y,
  };
}

/** About how many lines a name needs that breaks between its words only. */
function linesOf(name: string, room: number): number {
  let lines = 1;
  let used = 0;
  for (const word of name.trim().split(/\s+/)) {
    for (const [index, piece] of namePartsOf(word).entries()) {
      const letters = lettersOf(piece);
      const space = index === 0 && used > 0 ? 1 : 0;
      const fits = used === 0 || used + space + letters <= room;
      lines += fits ? 0 : 1;
      used = fits ? used + space + letters : letters;
    }
  }
  return Math.min(lines, MOST_LINES);
}

/** Those of some scripts are as wide as two of ours. */
function lettersOf(piece: string): number {
  return [...piece].reduce((sum, letter) => sum + (letter > "\u2E7F" ? 2 : 1), 0);
}

/** What a slice has in a tier; a node without a name is none. */
function nodesOf(slice: Slice, tier: Tier): ModelNode[] {
  const of = slice[tier];
  return (Array.isArray(of) ? of : [of]).filter((node): node is ModelNode => (node?.name ?? "") !== "");
}

/** One arrow from each filled tier of a column to the next. */
function downs(nodes: readonly PlacedNode[], column: number): Arrow[] {
  const stacks = TIERS.map((tier) => nodes.filter((node) => node.column === column && node.tier === tier)).filter(({ length }) => length > 0);
  return stacks.slice(1).flatMap((stack, index) => {
    const from = stacks[index]?.at(-1);
    const [to] = stack;
    if (from === undefined || to === undefined) {
      return [];
    }
    const x = to.x + COLUMN / 2;
    const path = `M${n(x)} ${n(from.y + from.height)}V${n(to.y - HEAD)}`;
    const head = `M${n(x - HEAD)} ${n(to.y - HEAD * 1.6)}L${n(x)} ${n(to.y)}L${n(x + HEAD)} ${n(to.y - HEAD * 1.6)}z`;
    return [{ kind: "down" as const, from: from.id, to: to.id, path, head }];
  });
}

/** Dashed ones to what a node feeds in other slices. What is named and nowhere to be found has none. */
function across(nodes: readonly PlacedNode[], slices: readonly Slice[], tiers: EventModelLayout["tiers"]): Arrow[] {
  const lanes = new Map<string, number>();
  const laneOf = (where: string): number => {
    const taken = lanes.get(where) ?? 0;
    lanes.set(where, taken + 1);
    return ((taken % LANES) + 1) / (LANES + 1);
  };
  return nodes.flatMap((from) => fedBy(from, nodes, slices).map((to) => across1(from, to, tiers, laneOf)));
}

function across1(from: PlacedNode, to: PlacedNode, tiers: EventModelLayout["tiers"], laneOf: (where: string) => number): Arrow {
  const forward = to.column > from.column;
  const side = forward ? 1 : -1;
  // Leaves above the middle and arrives below it, so that what comes and what goes on one side stay apart.
  const start: Point = [forward ? from.x + COLUMN : from.x, from.y + from.height * 0.35];
  const end: Point = [forward ? to.x : to.x + COLUMN, to.y + to.height * 0.65];
  const tip: Point = [end[0] - side * HEAD, end[1]];
  const out = start[0] + side * GUTTER * laneOf(`column ${forward ? from.column : from.column - 1}`);
  let points: Point[] = [start, [out, start[1]], [out, end[1]], tip];
  if (Math.abs(to.column - from.column) > 1) {
    const into = end[0] - side * GUTTER * laneOf(`column ${forward ? to.column - 1 : to.column}`);
    const along = (tiers.find(({ tier }) => tier === to.tier)?.y ?? 0) + TIER_HEAD * laneOf(`tier ${to.tier}`);
    points = [start, [out, start[1]], [out, along], [into, along], [into, end[1]], tip];
  }
  const [x, y] = end;
  const head = `M${n(x - side * HEAD * 1.6)} ${n(y - HEAD)}L${n(x)} ${n(y)}L${n(x - side * HEAD * 1.6)} ${n(y + HEAD)}z`;
  return { kind: "across", from: from.id, to: to.id, path: rounded(points), head };
}

/** By the node's name, else by the slice's: then its first node. */
function fedBy(from: PlacedNode, nodes: readonly PlacedNode[], slices: readonly Slice[]): PlacedNode[] {
  const elsewhere = nodes.filter(({ column }) => column !== from.column);
  const found = (from.node.feeds ?? []).flatMap((name) => {
    const wanted = plain(name);
    const named = elsewhere.filter(({ node }) => plain(node.name) === wanted);
    if (named.length > 0 || nodes.some(({ node }) => plain(node.name) === wanted)) {
      return named;
    }
    const first = elsewhere.find(({ column }) => plain(slices[column]?.slice ?? "") === wanted);
    return first === undefined ? [] : [first];
  });
  return [...new Set(found)];
}

function plain(name: string): string {
  return name.trim().toLowerCase();
}

type Point = readonly [x: number, y: number];

/** A path along these points, which lie straight above or beside one another, with round corners. */
function rounded(points: readonly Point[]): string {
  const [first, ...rest] = points.filter((point, index) => index === 0 || !isNear(point, points[index - 1]));
  if (first === undefined) {
    return "";
  }
  let path = `M${n(first[0])} ${n(first[1])}`;
  let before = first;
  rest.forEach((corner, index) => {
    const after = rest[index + 1];
    if (after === undefined) {
      path += `L${n(corner[0])} ${n(corner[1])}`;
    } else {
      const radius = Math.min(CORNER, distance(before, corner) / 2, distance(corner, after) / 2);
      const [ax, ay] = towards(corner, before, radius);
      const [bx, by] = towards(corner, after, radius);
      path += `L${n(ax)} ${n(ay)}Q${n(corner[0])} ${n(corner[1])} ${n(bx)} ${n(by)}`;
    }
    before = corner;
  });
  return path;
}

function isNear(one: Point, other: Point | undefined): boolean {
  return other !== undefined && distance(one, other) < 0.01;
}

function distance([ax, ay]: Point, [bx, by]: Point): number {
  return Math.hypot(bx - ax, by - ay);
}

function towards(from: Point, to: Point, by: number): Point {
  const share = by / distance(from, to);
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

/** Short enough to read, exact enough to draw. */
function n(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
