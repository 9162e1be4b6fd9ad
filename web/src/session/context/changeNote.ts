// What to say of a change of the marks.
//
// Invariant: what is said is about that very change. The server warns of all that a set holds, each time.
import type { Answer } from "../../api/http";
import { failureWords, sentence } from "../../api/http";
import { inOneLine } from "../../ui/shown";
import type { Changed } from "../../wire/names";

export interface ChangeNote {
  /** A warning is about something that was done all the same. */
  readonly kind: "failure" | "warning";
  readonly words: string;
}

/** Null if there is nothing to say. `added` is what the change was to add. */
export function changeNote(answer: Answer<Changed>, added: readonly string[]): ChangeNote | null {
  if (!answer.ok) {
    return { kind: "failure", words: failureWords(answer.failure) };
  }
  const sets = answer.value.sets ?? [];
  const full = sets.filter(({ leftOut }) => leftOut.length > 0);
  if (full.length > 0) {
    const words = full.map(
      ({ set, leftOut }) => `“${inOneLine(set)}” holds ten, which is all there is room for. Left out: ${leftOut.map(inOneLine).join(", ")}. Remove one first.`,
    );
    return { kind: "failure", words: words.join(" ") };
  }
  const warnings = sets.flatMap(({ items, warnings }) => {
    const others = items.filter((item) => !added.includes(item)).map((item) => `${JSON.stringify(item)} is no `);
    return warnings.filter((warning) => !others.some((other) => warning.startsWith(other)));
  });
  return warnings.length === 0 ? null : { kind: "warning", words: warnings.map(sentence).join(" ") };
}
