// Where a name of several words in one may be broken: `SessionAddedToWork`, `session_id`, `crates/model`.
//
// Invariant: the pieces put together are the name.

/** Before a capital that begins a word, behind a sign that joins words, and behind each letter of scripts without spaces. */
const BETWEEN_WORDS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[_./:\\-])(?=[^\s_./:\\-])|(?<=[\u2E80-\uD7A3])(?=\S)/u;

export function namePartsOf(name: string): string[] {
  return name.split(BETWEEN_WORDS);
}
