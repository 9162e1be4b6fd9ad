// What a reader can do from within the transcript.
import type { Answer } from "../../api/http";
import type { NewAnswer } from "../../wire/names";

export interface Actions {
  answer(request: number, answer: NewAnswer): Promise<Answer<unknown>>;
  /** Stops the running turn. */
  stop(): Promise<Answer<unknown>>;
  /** Reads an entry that was too long to come with the others. */
  readLarge(seq: number): Promise<Answer<unknown>>;
}
