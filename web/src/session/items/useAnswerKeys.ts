// Gives an answer by a single key: y, a or n.
//
// Invariant: a key answers the question that has the focus, else the first one on the page, and only one that is in sight: a
// question that is not is brought there instead. A key that is held down answers nothing. While there is a question, its keys
// do nothing else on the page, whether or not they answer it.
import type { RefObject } from "react";

import { ACTIONS } from "../../app/actions";
import { useKeyPresses } from "../../ui/keyPresses";
import type { AnswerKey, OfferedAnswer } from "./answers";

interface AnswerKeys {
  /** Marked with `data-question`, as every open question is. */
  card: RefObject<HTMLElement | null>;
  answers: readonly OfferedAnswer[];
  /** Nothing is to be answered any more. */
  settled: boolean;
  onChoose(answer: OfferedAnswer): void;
}

export function useAnswerKeys({ card, answers, settled, onChoose }: AnswerKeys): void {
  const press = (key: AnswerKey) => (event: KeyboardEvent) => {
    const element = card.current;
    if (element === null || element !== questionMeant()) {
      return;
    }
    event.preventDefault();
    const answer = answers.find((each) => each.key === key);
    if (settled || event.repeat || answer === undefined) {
      return;
    }
    if (isInSight(element)) {
      onChoose(answer);
    } else {
      element.scrollIntoView({ block: "nearest" });
      element.focus({ preventScroll: true });
    }
  };
  useKeyPresses(
    { [ACTIONS["allow-once"].key]: press("y"), [ACTIONS["always-allow"].key]: press("a"), [ACTIONS.reject.key]: press("n") },
    { first: true },
  );
}

function questionMeant(): Element | null {
  return document.activeElement?.closest("[data-question]") ?? document.querySelector("[data-question]");
}

/** Half of it, or of what it lies in if it is larger than that. */
function isInSight(element: Element): boolean {
  const box = element.getBoundingClientRect();
  const frame = element.closest('[role="log"]')?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight, height: innerHeight };
  return Math.min(box.bottom, frame.bottom) - Math.max(box.top, frame.top) >= Math.min(box.height, frame.height) / 2;
}
