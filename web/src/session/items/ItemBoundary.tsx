// Around each item of a turn: one that cannot be drawn shows its text plain, and the turn goes on below it.
import type { ReactNode } from "react";

import type { Item } from "../../state/transcript";
import { Boundary } from "../../ui/Boundary";
import { LongText } from "../../ui/LongText";

export function ItemBoundary({ item, children }: { item: Item; children: ReactNode }) {
  return (
    <Boundary
      of={item}
      instead={(retry) => (
        <PlainText text={plainTextOf(item)} onRetry={retry} />
      )}
    >
      {children}
    </Boundary>
  );
}

export function PlainText({ text, onRetry }: { text: string; onRetry(): void }) {
  return (
    <div>
      <p className="text-[0.8125rem] text-soft">
        This could not be drawn; its text is shown plain.{" "}
        <button type="button" className="small-button mx-0!" onClick={onRetry}>
          Try again
        </button>
      </p>
      <LongText text={text} label="Plain text">
        {(words) => (
          <p className="verbatim" dir="auto">
            {words}
          </p>
        )}
      </LongText>
    </div>
  );
}

/** What an item says, without any of its looks. */
export function plainTextOf(item: Item): string {
  switch (item.type) {
    case "text":
    case "thought":
      return item.text;
    case "tool":
      return lines([item.title, item.name, ...item.content.map((content) => ("text" in content ? content.text : "output" in content ? content.output : "newText" in content ? content.newText : null))]);
    case "plan":
      return lines(item.steps.map(({ text }) => text));
    case "permission":
      return lines([item.title, item.subject]);
    case "notice":
      return lines([item.title, item.description]);
    case "compaction":
      return item.summary ?? "";
    case "output":
      return lines([item.output.path, item.output.command, item.applet?.title]);
    case "applet_saved":
      return item.name;
    case "live_output":
      return lines([item.command, item.text]);
    case "large":
    case "newer":
      return item.kind;
  }
}

function lines(texts: readonly (string | null | undefined)[]): string {
  return texts.filter((text) => text !== null && text !== undefined && text !== "").join("\n");
}
