// The answers that a question can be given, as buttons, and the keys that give them.
import { useState } from "react";

import { useSingleKeys } from "../../ui/keyPresses";
import type { OfferedAnswer, OfferedAnswers } from "./answers";
import "./PermissionCard.css";

interface PermissionAnswersProps {
  answers: OfferedAnswers;
  disabled: boolean;
  onChoose(answer: OfferedAnswer): void;
}

export function PermissionAnswers({ answers: { shown, others }, disabled, onChoose }: PermissionAnswersProps) {
  const [all, setAll] = useState(false);
  const row = (some: readonly OfferedAnswer[]) => (
    <div className="mt-3 flex flex-wrap gap-2">
      {some.map((answer) => (
        <Choice key={`${answer.option.id} ${answer.remember}`} answer={answer} disabled={disabled} onChoose={() => onChoose(answer)} />
      ))}
    </div>
  );
  return (
    <>
      {row(shown)}
      {others.length > 0 && (
        <div className="mt-2">
          <button type="button" className="small-button mx-0! px-0!" aria-expanded={all} onClick={() => setAll(!all)}>
            Other answers
          </button>
          {all && row(others)}
        </div>
      )}
    </>
  );
}

/** Our word for what it does, and below it what it covers or what the agent calls it; the button's name is both, in this order. */
function Choice({ answer: { option, words, detail, key }, disabled, onChoose }: { answer: OfferedAnswer; disabled: boolean; onChoose(): void }) {
  const [keys] = useSingleKeys();
  return (
    <button
      type="button"
      className={`choice ${option.kind === "allow_once" && key === "y" ? "choice-primary" : ""}`}
      aria-keyshortcuts={keys && key !== null ? key : undefined}
      disabled={disabled}
      onClick={onChoose}
    >
      <span className="flex items-center gap-2 font-medium">
        {words}
        {keys && key !== null && (
          <kbd aria-hidden="true" className="choice-key pointer-coarse:hidden">
            {key}
          </kbd>
        )}
      </span>
      {detail !== null && (
        <>
          {" "}
          <span className="choice-name" dir="auto">
            {detail}
          </span>
        </>
      )}
    </button>
  );
}
