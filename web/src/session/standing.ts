// What can be done in a session as it stands.
import type { Followed } from "../state/followed";
import { runningTurn } from "../state/followed";
import type { SessionRow } from "../wire/names";

export interface Standing {
  /** Its log is damaged, so nothing can be written to it, its deletion neither. */
  readonly damaged: boolean;
  readonly writable: boolean;
  /** A turn runs, though it may wait for the person. */
  readonly running: boolean;
  /** Nothing has been said in it. */
  readonly empty: boolean;
}

export function standingOf(row: SessionRow, { reading, transcript, queue }: Followed): Standing {
  const damaged = row.readOnly === "damaged" || reading.kind === "damaged";
  return {
    damaged,
    writable: !damaged && row.readOnly !== "imported",
    running: !damaged && runningTurn(transcript) !== null,
    empty: transcript.turns.length === 0 && transcript.asides.length === 0 && queue.length === 0,
  };
}
