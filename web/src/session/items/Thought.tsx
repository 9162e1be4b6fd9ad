// What the agent thought: one quiet line, which opens.
import { memo } from "react";

import { Fold } from "../../ui/Fold";
import { Markdown } from "./Markdown";
import { Step } from "./Step";

export const Thought = memo(function Thought({ text, growing }: { text: string; growing: boolean }) {
  return (
    <Step bead={null}>
      <Fold line={<span className="text-soft italic">{growing ? "Thinking…" : "Thought for a moment"}</span>}>
        {() => (
          <div className="my-1 border-l border-rule pl-4 text-[0.9375rem] text-soft">
            <Markdown text={text} growing={growing} />
          </div>
        )}
      </Fold>
    </Step>
  );
});
