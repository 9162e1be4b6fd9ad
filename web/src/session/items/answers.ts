// The answers to what an agent asks: once, always, no, and what each of them covers.
//
// Invariant: at most one answer has each key, and only where it is plain which one is meant. "Always" is ours where the very
// same can be known again, for then what it covers is certain; else it is the agent's, in the agent's words.
import type { Asked } from "../../state/transcript";
import { choiceWords } from "../../state/words";
import { inOneLine } from "../../ui/shown";
import type { PermissionKind, PermissionOption } from "../../wire/names";

export type AnswerKey = "y" | "a" | "n";

export interface OfferedAnswer {
  readonly option: PermissionOption;
  /** The server gives it again, unasked, to the very same. */
  readonly remember: boolean;
  readonly key: AnswerKey | null;
  /** Our word for it. */
  readonly words: string;
  /** What it covers, in our words, or what the agent calls it; null where our word says all. */
  readonly detail: string | null;
}

export interface OfferedAnswers {
  readonly shown: readonly OfferedAnswer[];
  /** Seldom wanted: behind one more press. */
  readonly others: readonly OfferedAnswer[];
}

const EXACTLY_THIS = "exactly this, in this directory";
const UP_TO_THE_AGENT = "what it covers is up to the agent";

export function answersOf(permission: Asked): OfferedAnswers {
  const of = (kind: PermissionKind) => permission.options.filter((option) => option.kind === kind);
  const [once, always, no, never] = [of("allow_once"), of("allow_always"), of("reject_once"), of("reject_always")];
  const memorable = isMemorable(permission);
  const [allow, reject] = [once[0], no[0]];
  const ours = memorable && allow !== undefined ? [remembered(allow, "allow_always", "a")] : [];
  const oursNever = memorable && reject !== undefined ? [remembered(reject, "reject_always", null)] : [];
  const theirs = always.map((option) => (ours.length === 0 ? asOffered(option, always.length === 1 ? "a" : null) : besideOurs(option)));
  const theirsNever = never.map((option) => asOffered(option, no.length === 0 && never.length === 1 ? "n" : null));
  return {
    shown: [
      ...once.map((option) => asOffered(option, once.length === 1 ? "y" : null)),
      ...(ours.length > 0 ? ours : theirs),
      ...no.map((option) => asOffered(option, no.length === 1 ? "n" : null)),
      ...(no.length === 0 ? theirsNever : []),
    ],
    others: [...(ours.length > 0 ? theirs : []), ...oursNever, ...(no.length === 0 ? [] : theirsNever)],
  };
}

/** All that will be used is told, so that the same can be known again. */
function isMemorable({ subject, digest, form }: Asked): boolean {
  return Boolean(subject) && Boolean(digest) && !form;
}

function remembered(option: PermissionOption, as: PermissionKind, key: AnswerKey | null): OfferedAnswer {
  return { option, remember: true, key, words: choiceWords(as), detail: EXACTLY_THIS };
}

function asOffered(option: PermissionOption, key: AnswerKey | null): OfferedAnswer {
  const { kind } = option;
  const said = inOneLine(option.name);
  const says = !SAME_AS_OURS[kind].has(said.toLowerCase());
  const lasts = kind === "allow_always" || kind === "reject_always";
  return { option, remember: false, key, words: choiceWords(kind), detail: says ? said : lasts ? UP_TO_THE_AGENT : null };
}

/** The agent's own "always", where ours is offered too: the two must not be taken for one another. */
function besideOurs(option: PermissionOption): OfferedAnswer {
  const { detail } = asOffered(option, null);
  return { option, remember: false, key: null, words: "Let the agent always do this", detail: detail === UP_TO_THE_AGENT ? detail : `“${detail}”: ${UP_TO_THE_AGENT}` };
}

/** Names that agents give to an answer and that say no more than our word for it. */
const SAME_AS_OURS: Readonly<Record<PermissionKind, ReadonlySet<string>>> = {
  allow_once: new Set(["", "allow", "allow once", "yes", "ok", "accept", "approve", "proceed"]),
  allow_always: new Set(["", "allow always", "always allow", "always"]),
  reject_once: new Set(["", "reject", "reject once", "no", "deny", "decline", "cancel"]),
  reject_always: new Set(["", "reject always", "always reject", "never"]),
};
