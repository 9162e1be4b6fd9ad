// An entry that is too long to come with the others: it says how long it is, and is read when somebody asks for it.
import { useState } from "react";

import { failureWords } from "../../api/http";
import type { LargeItem } from "../../state/transcript";
import type { Actions } from "./actions";
import { Step } from "./Step";

type Reading = { kind: "not_asked" } | { kind: "on_its_way" } | { kind: "failed"; words: string };

export function LargeEntry({ item, actions }: { item: LargeItem; actions: Pick<Actions, "readLarge"> }) {
  const [reading, setReading] = useState<Reading>({ kind: "not_asked" });
  const read = () => {
    setReading({ kind: "on_its_way" });
    // Once it is read it stands in the place of this.
    void actions.readLarge(item.seq).then((answer) => {
      if (!answer.ok) {
        setReading({ kind: "failed", words: failureWords(answer.failure) });
      }
    });
  };
  return (
    <Step bead={null} label="A very long part">
      <p className="text-[0.9375rem] text-soft">
        This part is very long ({megabytes(item.bytes)} MB) and is not shown yet.{" "}
        <button type="button" className="small-button" disabled={reading.kind === "on_its_way"} onClick={read}>
          {reading.kind === "on_its_way" ? "Reading…" : "Read it"}
        </button>
        {reading.kind === "failed" && <span role="alert"> {reading.words}</span>}
      </p>
    </Step>
  );
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
