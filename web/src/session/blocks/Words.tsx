// A text of the agent: its words, and what stands between them as more than words.
import { memo, useMemo, useState } from "react";

import type { Block, TextItem } from "../../state/transcript";
import { inOneLine } from "../../ui/shown";
import type { Slice } from "../../wire/blocks";
import { Markdown } from "../items/Markdown";
import { EventModel } from "./EventModel";
import { ComingStep, NextStep } from "./NextStep";
import type { BlockSort } from "./pieces";
import { createPieces } from "./pieces";
import { TasksTable } from "./TasksTable";
import type { TurnBlocks } from "./turnBlocks";
import { UseCaseCards } from "./UseCaseCards";
import { useUnstored } from "./useUnstored";
import "./Words.css";

interface WordsProps {
  turn: number;
  item: TextItem;
  blocks: TurnBlocks;
  /** The turn runs. */
  running: boolean;
  /** Nothing has come after it. */
  last: boolean;
}

export const Words = memo(function Words({ turn, item, blocks, running, last }: WordsProps) {
  const { text, unsettled = 0 } = item;
  const own = blocks.of(item.block);
  const [cut] = useState(createPieces);
  const pieces = useMemo(() => cut({ text, blocks: own, running, last, unsettled }), [cut, text, own, running, last, unsettled]);
  const growing = running && last;
  const words = useUnstored(unsettled, text);
  return (
    <div ref={words} className="space-y-3">
      {pieces.map((piece, index) => {
        switch (piece.kind) {
          case "words":
            return <Markdown key={index} turn={turn} text={piece.text} growing={growing && index === pieces.length - 1} />;
          case "block":
            return <Shown key={index} turn={turn} block={piece.block} text={piece.text} blocks={blocks} growing={growing} />;
          case "coming":
            return <Coming key={index} sort={piece.sort} />;
        }
      })}
    </div>
  );
});

interface ShownProps {
  turn: number;
  block: Block;
  /** The words that it stands for. */
  text: string;
  blocks: TurnBlocks;
  /** More words may come, and more blocks in them. */
  growing: boolean;
}

function Shown({ turn, block, text, blocks, growing }: ShownProps) {
  if ("next" in block.shown) {
    return <NextStep turn={turn} nth={block.nth} next={block.shown.next} />;
  }
  const { card } = block.shown;
  switch (card.kind) {
    case "usecase":
      return <UseCaseCards useCases={card.useCases} />;
    case "tasks":
      return <TasksTable tasks={card.tasks} />;
    case "eventmodel": {
      const id = `t${turn}-event-model`;
      // Drawn where no more slices are to be expected: it would have to move.
      return blocks.model?.at === block && !growing ? (
        <EventModel id={id} slices={blocks.model.slices} />
      ) : (
        <DrawnBelow id={growing ? null : id} slices={card.slices} />
      );
    }
    default:
      // Of a sort that this page does not know.
      return <Markdown text={text} growing={false} />;
  }
}

/** Where a slice was written that is drawn with others, further down. */
function DrawnBelow({ id, slices }: { id: string | null; slices: readonly Slice[] }) {
  const names = slices.map(({ slice, label }) => inOneLine(label || slice)).join(", ");
  return (
    <p className="slice-line">
      <span className="min-w-0 truncate">
        {slices.length === 1 ? "Slice" : "Slices"} <bdi className="text-ink">{names}</bdi>
      </span>
      {id === null ? (
        <span className="shrink-0">drawn with the rest of the event model</span>
      ) : (
        <button
          type="button"
          className="next-link shrink-0"
          onClick={() => {
            const model = document.getElementById(id);
            model?.scrollIntoView({ block: "nearest" });
            model?.focus({ preventScroll: true });
          }}
        >
          See the event model below
        </button>
      )}
    </p>
  );
}

const COMING: Readonly<Record<Exclude<BlockSort, "next">, string>> = {
  usecase: "Use cases are being written …",
  eventmodel: "A slice of the event model is being written …",
  tasks: "The tasks are being written …",
};

function Coming({ sort }: { sort: BlockSort }) {
  switch (sort) {
    case "next":
      return <ComingStep words="A next step is being written …" />;
    case "eventmodel":
      return <p className="slice-line">{COMING.eventmodel}</p>;
    case "usecase":
    case "tasks":
      return <p className="card coming">{COMING[sort]}</p>;
  }
}
