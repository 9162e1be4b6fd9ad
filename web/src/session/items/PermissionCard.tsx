// What the agent asks before it goes on: the very thing it wants to do, and the answers it offers.
//
// Invariant: what is decided by is `subject`, whole and with every hidden character in sight; the agent's own words
// for it and for its answers stand beside it and never in its place, and so does all else that is known of the call,
// from whichever message. An answer is sent once, and the log says which one counted. Whoever answers by key stays where
// they were: the focus goes from the card to the line that it becomes.
import type { RefObject } from "react";
import { memo, useId, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Failure } from "../../api/http";
import { failureWords } from "../../api/http";
import type { Asked as AskedOf, ToolCall } from "../../state/transcript";
import { answerWords, kindWords } from "../../state/words";
import { Alert } from "../../ui/Alert";
import { Exact } from "../../ui/Exact";
import { Fold } from "../../ui/Fold";
import { Hint } from "../../ui/Hint";
import { DirectoryContext } from "../../ui/paths";
import { inOneLine, shown } from "../../ui/shown";
import { timeOfDay } from "../../ui/time";
import type { NewAnswer, PermissionAnswer, Timestamp } from "../../wire/names";
import type { Actions } from "./actions";
import type { OfferedAnswer } from "./answers";
import { answersOf } from "./answers";
import type { BesidesSubject } from "./besidesSubject";
import { besidesSubject, isNothingBeside } from "./besidesSubject";
import { fieldsOf, initialOf, missingOf, valuesOf } from "./formFields";
import { KeyValues } from "./KeyValues";
import { PermissionAnswers } from "./PermissionAnswers";
import { PermissionForm } from "./PermissionForm";
import { RememberedLine } from "./RememberedLine";
import { Step } from "./Step";
import { textBodies } from "../../state/bodies";
import { CallContent, Places } from "./ToolBody";
import { WholeCall } from "./WholeCall";
import { useAnswerKeys } from "./useAnswerKeys";
import "./exactText.css";

interface PermissionCardProps {
  permission: AskedOf;
  /** The call that waits for the answer, where it is known. */
  call: ToolCall | null;
  /** It can still be answered: its turn runs, or it belongs to none. */
  open: boolean;
  answeredAt: Timestamp | null;
  actions: Actions;
  now: number;
}

export const PermissionCard = memo(function PermissionCard({ permission, call, open, answeredAt, actions, now }: PermissionCardProps) {
  /** The focus was in the card when it became a line. */
  const hadFocusRef = useRef(false);
  if (permission.answer === null && open) {
    return <OpenRequest permission={permission} call={call} actions={actions} hadFocusRef={hadFocusRef} />;
  }
  return <Decided permission={permission} answer={permission.answer ?? UNANSWERED} answeredAt={answeredAt} now={now} hadFocusRef={hadFocusRef} />;
});

const UNANSWERED: PermissionAnswer = { by: { type: "nobody" } };

interface DecidedProps {
  permission: AskedOf;
  answer: PermissionAnswer;
  answeredAt: Timestamp | null;
  now: number;
  hadFocusRef: RefObject<boolean>;
}

function Decided({ permission, answer, answeredAt, now, hadFocusRef }: DecidedProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (hadFocusRef.current) {
      hadFocusRef.current = false;
      element.current?.querySelector("button")?.focus({ preventScroll: true });
    }
  }, [hadFocusRef]);
  const words = answerWords(answer);
  const remembered = answer.by.type === "remembered" ? answer.by.id : answer.remembered;
  const rejected = answer.kind === "reject_once" || answer.kind === "reject_always";
  return (
    <Step bead={answer.by.type === "nobody" ? "hollow" : rejected ? "crossed" : "solid"} label={words}>
      <div ref={element}>
        <Fold
          line={
            <>
              <span className="min-w-0 md:max-w-[70%] md:shrink-0">
                {shown(words)}
                {answeredAt !== null && <span className="text-soft"> · {timeOfDay(answeredAt, now)}</span>}
              </span>
              <span className="min-w-0 truncate font-mono text-[0.8125rem] text-soft max-md:hidden" dir="ltr">
                {inOneLine(permission.subject ?? permission.title)}
              </span>
            </>
          }
        >
          {() => (
            <div className="my-1 space-y-2">
              <p className="text-[0.8125rem] text-soft">{kindWords(permission.kind)}</p>
              <Asked permission={permission} call={null} />
              {answer.fields && <KeyValues label="Filled in" value={answer.fields} />}
              {remembered && <RememberedLine id={remembered} />}
            </div>
          )}
        </Fold>
      </div>
    </Step>
  );
}

interface AskedProps {
  permission: AskedOf;
  /** Null also where the call is shown elsewhere. */
  call: ToolCall | null;
}

/** Whoever decides sees all of the call, also what is kept beside the log. */
function Asked({ permission, call }: AskedProps) {
  if (call === null || textBodies(call).length === 0) {
    return <AskedAbout permission={permission} call={call} />;
  }
  return (
    <WholeCall call={call} atOnce>
      {(whole) => <AskedAbout permission={permission} call={whole} />}
    </WholeCall>
  );
}

/** What it is about: exactly, in the agent's words, and with all else that is known. */
function AskedAbout({ permission, call }: AskedProps) {
  const { title, form } = permission;
  const [subject, said] = [permission.subject ?? "", permission.said ?? ""];
  const beside = useMemo(() => besidesSubject(call, subject), [call, subject]);
  const known = !isNothingBeside(beside);
  return (
    <>
      {subject !== "" ? (
        <>
          <Whole text={subject} label="Exactly this" />
          <AgentsNames names={[title, call?.title ?? ""]} subject={subject} />
        </>
      ) : (
        <>
          {title.length > LONG_TITLE ? <Whole text={title} label="What the agent asks" /> : <p className="verbatim mt-0.5 leading-normal font-semibold">{shown(title)}</p>}
          {!form && <p className="mt-1 text-[0.8125rem] text-soft">The agent does not say exactly what it will use{known || said !== "" ? "; it has shown this:" : "."}</p>}
        </>
      )}
      {call !== null && known && <Beside call={call} beside={beside} />}
      {subject === "" && !known && said !== "" && <Whole text={said} label="In the agent's words" />}
    </>
  );
}

/** What the agent calls it, where that is more than the subject once more. */
function AgentsNames({ names, subject }: { names: readonly string[]; subject: string }) {
  const said = [...new Set(names.map((name) => name.trim()))].filter((name) => !isSaidBy(name, subject));
  return said.map((name) =>
    name.length > LONG_TITLE ? (
      <Whole key={name} text={name} label="What the agent calls it" />
    ) : (
      <p key={name} className="verbatim mt-1.5 text-[0.875rem] text-soft">
        The agent calls it “{shown(name)}”
      </p>
    ),
  );
}

/** A word for what is done, before the thing that it is done to. */
const VERB = /^(?:run|execute|bash|shell|read|edit|write|create|delete|fetch|search)?[\s:(]*$/i;

function isSaidBy(name: string, subject: string): boolean {
  const plain = (text: string) => inOneLine(text).replace(/[`"'“”]/g, "").replace(/(?:…|\.\.\.|\))$/, "").trim();
  const [words, exact] = [plain(name), plain(subject)];
  return exact.includes(words) || (words.endsWith(exact) && VERB.test(words.slice(0, -exact.length)));
}

/** All of a text to decide by, within bounds of its own. */
function Whole({ text, label }: { text: string; label: string }) {
  const long = lengthWords(text);
  return (
    <>
      <pre className="subject" tabIndex={0} role="region" aria-label={label} dir="ltr">
        <Exact text={text} />
      </pre>
      {long !== null && <p className="mt-1 text-[0.8125rem] text-soft">{long}</p>}
    </>
  );
}

function Beside({ call, beside: { given, content, locations } }: { call: ToolCall; beside: BesidesSubject }) {
  const all = given === null ? null : <KeyValues label="The tool is given" value={given} />;
  // A change says what most tools are given for it.
  const folded = all !== null && content.some(({ type }) => type === "diff");
  return (
    // Whoever decides sees whole paths.
    <DirectoryContext value="">
      <div className="mt-3 space-y-2">
        {locations.length > 0 && <Places places={locations} />}
        {content.map((one, index) => (
          <CallContent key={index} call={call} item={call.content.indexOf(one)} content={one} />
        ))}
        {folded ? <Fold line={<span className="text-[0.8125rem] text-soft">What the tool is given</span>}>{() => all}</Fold> : all}
      </div>
    </DirectoryContext>
  );
}

/** A longer title is more than a sentence: with some agents it is the command. */
const LONG_TITLE = 300;
const LONG_LINES = 12;
const LONG_CHARACTERS = 1_200;

function lengthWords(subject: string): string | null {
  const lines = subject.split("\n").length;
  if (lines <= LONG_LINES && subject.length <= LONG_CHARACTERS) {
    return null;
  }
  return `${lines === 1 ? "" : `${lines.toLocaleString("en")} lines, `}${subject.length.toLocaleString("en")} characters. Scroll to read it to its end.`;
}

type Sending = { kind: "ready" } | { kind: "sending" } | { kind: "sent" } | { kind: "failed"; failure: Failure };

interface OpenRequestProps {
  permission: AskedOf;
  call: ToolCall | null;
  actions: Actions;
  hadFocusRef: RefObject<boolean>;
}

function OpenRequest({ permission, call, actions, hadFocusRef }: OpenRequestProps) {
  const headId = useId();
  const card = useRef<HTMLElement>(null);
  const [fields] = useState(() => fieldsOf(permission.form));
  const [filled, setFilled] = useState(() => initialOf(fields));
  const [tried, setTried] = useState(false);
  const [sending, setSending] = useState<Sending>({ kind: "ready" });
  const keys = useRef(new Map<string, string>());
  const answers = useMemo(() => answersOf(permission), [permission]);
  const missing = missingOf(fields, filled);
  const first = sending.kind === "failed" ? firstAnswer(sending.failure) : null;
  const settled = sending.kind === "sending" || sending.kind === "sent" || first !== null;

  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      hadFocusRef.current = element?.contains(document.activeElement) ?? false;
    };
  }, [hadFocusRef]);

  const choose = async ({ option, remember }: OfferedAnswer) => {
    const allows = option.kind === "allow_once" || option.kind === "allow_always";
    if (allows && missing.length > 0) {
      setTried(true);
      return;
    }
    // The button that has the focus is about to be disabled, which would lose it.
    if (card.current?.contains(document.activeElement)) {
      card.current.focus({ preventScroll: true });
    }
    setSending({ kind: "sending" });
    // Whoever rejects need not fill anything in.
    const values = (allows && fields.length > 0 ? valuesOf(fields, filled) : null) as NewAnswer["fields"];
    const wish = JSON.stringify([option.id, values, remember]);
    // A repeat of the same answer is the same wish; another one is another.
    const { current } = keys;
    current.set(wish, current.get(wish) ?? crypto.randomUUID());
    const key = current.get(wish) ?? null;
    const answer = await actions.answer(permission.request, { option: option.id, fields: values ?? null, ...(remember && { remember }), key });
    setSending(answer.ok ? { kind: "sent" } : { kind: "failed", failure: answer.failure });
  };
  useAnswerKeys({ card, answers: answers.shown, settled, onChoose: (answer) => void choose(answer) });

  return (
    // The call that waits is not drawn by itself: the card stands for it.
    <Step bead="asking" tool={call?.tool}>
      <section ref={card} data-question="" tabIndex={-1} aria-labelledby={headId} className="card card-asking">
        <h3 id={headId} className="text-[0.8125rem] font-semibold text-thread">
          Needs you <span className="font-normal text-soft">· {kindWords(permission.kind)}</span>
        </h3>
        <Asked permission={permission} call={call} />
        {fields.length > 0 && (
          <PermissionForm fields={fields} filled={filled} missing={tried ? missing : []} disabled={settled} onChange={setFilled} />
        )}
        <PermissionAnswers answers={answers} disabled={settled} onChoose={(answer) => void choose(answer)} />
        <Hint id="question" className="mt-3">
          This question is on every device that you have open. The first answer counts, wherever it is given.
        </Hint>
        <div aria-live="polite" className="text-[0.9375rem]">
          {sending.kind === "sending" && <p className="mt-3 text-soft">Sending…</p>}
          {sending.kind === "sent" && <p className="mt-3 text-soft">Sent.</p>}
          {first !== null && <p className="mt-3">Somebody was faster. {shown(answerWords(first))}.</p>}
        </div>
        {sending.kind === "failed" && first === null && <Alert className="mt-3">{failureWords(sending.failure)}</Alert>}
      </section>
    </Step>
  );
}

/** The answer that counted, if this one came too late. */
function firstAnswer(failure: Failure): PermissionAnswer | null {
  if (failure.kind !== "refused" || failure.code !== "request_answered") {
    return null;
  }
  const details = failure.details as { answer?: PermissionAnswer } | undefined;
  return details?.answer ?? UNANSWERED;
}
