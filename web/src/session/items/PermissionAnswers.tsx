// The answers that a question can be given, as buttons, and the keys that give them.
//
// Invariant: the line about the keys takes the same room whether or not somebody writes, so that leaving a field by pressing a
// button does not move the button away.
import { useRef, useState } from "react";

import { useEscape, useEscapeFromField } from "../../ui/escape";
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
  const rest = useRef<HTMLDivElement>(null);
  useEscape({
    on: all,
    inside: rest,
    onEscape() {
      if (rest.current?.contains(document.activeElement)) {
        rest.current.querySelector("button")?.focus();
      }
      setAll(false);
    },
  });
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
      <KeyHint answers={shown} />
      {others.length > 0 && (
        <div ref={rest} className="mt-2">
          <button type="button" className="small-button mx-0! px-0!" aria-expanded={all} onClick={() => setAll(!all)}>
            Other answers
          </button>
          {all && row(others)}
        </div>
      )}
    </>
  );
}

/** Which keys answer, and what to do first while letters go into a text; what it says of Escape holds in every field. */
function KeyHint({ answers }: { answers: readonly OfferedAnswer[] }) {
  const [keys] = useSingleKeys();
  useEscapeFromField();
  const own = answers.flatMap(({ key }) => key ?? []);
  const last = own.at(-1);
  if (!keys || last === undefined) {
    return null;
  }
  const names = (
    <>
      {own.slice(0, -1).map((key, index) => (
        <span key={key}>
          {index > 0 && ", "}
          <kbd>{key}</kbd>
        </span>
      ))}
      {own.length > 1 && " or "}
      <kbd>{last}</kbd>
    </>
  );
  return (
    <div className="key-hint mt-2 text-[0.8125rem] text-soft pointer-coarse:hidden">
      <p data-while="reading">Or press {names}.</p>
      <p data-while="writing">
        You are writing: to answer by key, press <kbd>Esc</kbd> first, then {names}.
      </p>
    </div>
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
