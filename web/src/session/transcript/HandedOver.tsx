// Between two turns: who the session went to, and from whom.
import type { HandOver } from "../../state/transcript";
import { inOneLine } from "../../ui/shown";

interface HandedOverProps {
  handOvers: readonly HandOver[];
  /** Nothing is below it. */
  last: boolean;
  /** The turn above was interrupted: the thread goes on below. */
  broken: boolean;
}

export function HandedOver({ handOvers, last, broken }: HandedOverProps) {
  return (
    <div className="thread-row pb-9">
      {!broken && <span aria-hidden="true" className={`thread-line ${last ? "thread-line-loose" : ""}`} />}
      {handOvers.map(({ from, to }, index) => (
        <p key={index} role="note" className="text-[0.9375rem] wrap-anywhere text-soft">
          Handed over {from === null ? "" : `from ${inOneLine(from)} `}to {inOneLine(to)}.
        </p>
      ))}
    </div>
  );
}
