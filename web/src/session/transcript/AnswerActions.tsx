// What can be done with an answer: take it along as it is, or the whole turn as Markdown.
//
// Beside a mouse they show where the pointer or the focus is; on a touch screen always.
import { memo } from "react";

import type { TranscriptTurn } from "../../state/transcript";
import { CopyIconButton } from "../../ui/CopyButton";
import type { SessionId } from "../../wire/names";
import { useMarkdown } from "../export/useMarkdown";

interface AnswerActionsProps {
  session: SessionId;
  turn: number;
  items: TranscriptTurn["items"];
}

const SIZE = "pointer-fine:size-7! pointer-fine:rounded-md! [&>svg]:size-4.5";

export const AnswerActions = memo(function AnswerActions({ session, turn, items }: AnswerActionsProps) {
  const markdown = useMarkdown(session, turn);
  const answer = answerOf(items);
  return (
    <div className="-ml-1.5 flex text-soft transition-opacity group-hover/turn:opacity-100 focus-within:opacity-100 pointer-coarse:-ml-3 [@media(hover:hover)]:opacity-0">
      {answer !== "" && <CopyIconButton text={answer} what="the answer" className={SIZE} />}
      <CopyIconButton text={markdown} what={`turn ${turn} as Markdown`} icon="file" className={SIZE} />
    </div>
  );
});

/** What the agent said, without what it did. */
export function answerOf(items: TranscriptTurn["items"]): string {
  const texts = items.filter((item) => item.type === "text").map((item) => item.text.trim());
  return texts.filter((text) => text !== "").join("\n\n");
}
