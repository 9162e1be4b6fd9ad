// What to say of a change of the marks that was carried out, but not as wished.
import { sentence } from "../../api/http";
import { inOneLine } from "../../ui/shown";
import type { Changed } from "../../wire/names";

/** Null if there is nothing to say. */
export function changeWords({ sets = [] }: Changed): string | null {
  const words = sets.flatMap(({ set, leftOut, warnings }) => [
    ...(leftOut.length === 0
      ? []
      : [`“${inOneLine(set)}” holds ten, which is all there is room for. Left out: ${leftOut.map(inOneLine).join(", ")}. Remove one first.`]),
    // What was left out is said already.
    ...(leftOut.length === 0 ? warnings.map(sentence) : []),
  ]);
  return words.length === 0 ? null : words.join(" ");
}
