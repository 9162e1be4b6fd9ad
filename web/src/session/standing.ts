// What can be done in a session as it stands.
import type { Followed } from "../state/followed";
import { runningTurn } from "../state/followed";
import type { Fence } from "../state/words";
import { fenceOf } from "../state/words";
import type { SessionRow } from "../wire/names";

export interface Standing {
  /** Why its log can not be read to the end. Then nothing can be written to it, its deletion neither. */
  readonly fence: Fence | null;
  readonly writable: boolean;
  /** A turn runs, though it may wait for the person. */
  readonly running: boolean;
  /** Nothing has been said in it. */
  readonly empty: boolean;
}

export function standingOf(row: SessionRow, { reading, transcript, queue }: Followed): Standing {
  const fence = reading.kind === "fenced" ? reading.why : fenceOf(row);
  return {
    fence,
    writable: fence === null && row.readOnly !== "imported",
    running: fence === null && runningTurn(transcript) !== null,
    empty: transcript.turns.length === 0 && transcript.asides.length === 0 && queue.length === 0,
  };
}
