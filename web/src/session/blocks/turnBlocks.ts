// The blocks of a turn by the texts that they stand in, and its event model, which all its slices make together.
import type { Block } from "../../state/transcript";
import type { Slice } from "../../wire/blocks";

export interface TurnBlocks {
  /** Those of one text, the same array each time. */
  of(text: number): readonly Block[];
  /** Every slice of the turn, and the block in whose place they are drawn: the last. */
  readonly model: { readonly slices: readonly Slice[]; readonly at: Block } | null;
}

const NONE: readonly Block[] = [];

export function turnBlocks(blocks: readonly Block[]): TurnBlocks {
  const byText = grouped(blocks);
  const models = blocks.flatMap((block) => ("card" in block.shown && block.shown.card.kind === "eventmodel" ? [{ block, slices: block.shown.card.slices }] : []));
  const last = models.at(-1);
  return {
    of: (text) => byText.get(text) ?? NONE,
    model: last === undefined ? null : { slices: models.flatMap(({ slices }) => slices), at: last.block },
  };
}

function grouped(blocks: readonly Block[]): Map<number, Block[]> {
  const groups = new Map<number, Block[]>();
  for (const block of blocks) {
    groups.set(block.block, [...(groups.get(block.block) ?? []), block]);
  }
  return groups;
}
