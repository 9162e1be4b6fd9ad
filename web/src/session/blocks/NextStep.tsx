// A step that the agent offers: the loose end of the thread, which a click takes up in a session of its own.
//
// Invariant: what will be sent is in sight, with every hidden character of it, before the click that sends it. What is
// shown of a step takes the same room however it stands, and keeps the focus.
import type { ReactNode } from "react";
import { memo, use, useEffect, useId, useRef, useState } from "react";

import type { Failure } from "../../api/http";
import { failureWords } from "../../api/http";
import { Alert } from "../../ui/Alert";
import { Exact } from "../../ui/Exact";
import { Icon } from "../../ui/Icon";
import type { KnotShape } from "../../ui/Knot";
import { Knot } from "../../ui/Knot";
import { Link } from "../../ui/Link";
import { jumpToTurn, placeHref } from "../../ui/place";
import { inOneLine } from "../../ui/shown";
import type { Next, NextBlock, NextWish } from "../../wire/blocks";
import type { SessionId } from "../../wire/names";
import { NextMenu } from "./NextMenu";
import { unknownCommand } from "./unknownCommand";
import type { NextSteps } from "./useNextSteps";
import { NextStepsContext } from "./useNextSteps";
import { useOtherSession } from "./useOtherSession";
import "./NextStep.css";

interface NextStepProps {
  turn: number;
  /** Its number among those of the turn, from 1. */
  nth: number;
  next: Readonly<Next>;
}

export const NextStep = memo(function NextStep({ turn, nth, next }: NextStepProps) {
  const steps = use(NextStepsContext);
  const id = `t${turn}.n${nth}`;
  const incomplete = (next.metaContext ?? "").trim() === "";
  const want = incomplete ? null : (steps?.want ?? null);
  useEffect(() => want?.(turn), [want, turn]);
  const known = steps?.standing?.get(id) ?? null;
  if (incomplete || known?.state === "incomplete") {
    return (
      <Line knot="offered" quiet label={next.label} command={next.command} go={(props) => <span {...props} />}>
        <strong className="font-semibold">This step can not be taken:</strong> the agent left out <code>metaContext</code>, the piece of work that this belongs to.
        Ask it to offer the step again with one.
      </Line>
    );
  }
  return <Offer id={id} next={next} known={known} steps={steps} />;
});

interface OfferProps {
  id: string;
  next: Readonly<Next>;
  known: NextBlock | null;
  steps: NextSteps | null;
}

/** One and the same button however the step stands, so that whoever is on it when it is taken elsewhere stays there. */
function Offer({ id, next, known, steps }: OfferProps) {
  const [wish, setWish] = useState<NextWish>({});
  const [going, setGoing] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const open = steps !== null && steps.past === undefined && known?.state === "open";
  const used = known?.state === "used";
  // Of another agent nothing is known here.
  const unknown = steps === null || (wish.agent ?? steps.agent) !== steps.agent ? null : unknownCommand(next.command, steps.commands);
  const go = async () => {
    if (open && !going) {
      setGoing(true);
      setFailure(null);
      setFailure(await steps.take(id, wish));
      setGoing(false);
    }
  };
  const choices = steps?.options.flatMap((option) => option.choices) ?? [];
  const chosen = [wish.agent, wish.model, wish.mode].flatMap((one) => (one === undefined ? [] : [inOneLine(choices.find(({ value }) => value === one)?.name ?? one)]));
  return (
    <Line
      knot={used ? "taken" : open && going ? "breathing" : "offered"}
      quiet={!used && !open}
      label={next.label}
      command={next.command}
      // Not `disabled`, which would take the focus away.
      go={(props) => <button ref={button} type="button" aria-disabled={!open || going} aria-busy={open && going} {...props} onClick={() => void go()} />}
      beside={open && <NextMenu steps={steps} wish={wish} going={going} focusAfter={button} onChoose={setWish} onGo={() => void go()} />}
      after={open && failure !== null && <Alert className="mt-1.5">{failureWords(failure)}</Alert>}
    >
      {!open ? (
        <Standing next={next} known={known} steps={steps} />
      ) : going ? (
        <span role="status">Beginning a session…</span>
      ) : (
        <>
          <Where next={next} />
          {chosen.length > 0 && `, with ${chosen.join(", ")}`}
          {unknown !== null && (
            <>
              . {inOneLine(steps.agent)} lists no command <code>/{inOneLine(unknown)}</code>; it may take this as plain text
            </>
          )}
        </>
      )}
    </Line>
  );
}

/** It was taken, or another took its place, or nobody knows yet. */
function Standing({ next, known, steps }: Omit<OfferProps, "id">) {
  const later = known?.supersededBy ?? null;
  if (known?.state === "used" && steps !== null && known.sessionId) {
    return <WentOn session={known.sessionId} />;
  }
  if (known?.state === "open" && steps?.past !== undefined) {
    return (
      <>
        Still open.{" "}
        <Link className="next-link" href={`/s/${steps.past}${placeHref({ turn: known.turn, tool: null })}`}>
          Take it in its session
        </Link>
      </>
    );
  }
  if (known?.state === "superseded") {
    return (
      <>
        A later turn offers a step of the same work.{" "}
        {later !== null && steps?.past !== undefined && (
          <Link className="next-link" href={`/s/${steps.past}${placeHref({ turn: later, tool: null })}`}>
            Go to turn {later}
          </Link>
        )}
        {later !== null && steps?.past === undefined && (
          <a
            className="next-link"
            href={placeHref({ turn: later, tool: null })}
            onClick={(event) => {
              event.preventDefault();
              jumpToTurn(later);
            }}
          >
            Go to turn {later}
          </a>
        )}
      </>
    );
  }
  if (known === null && steps?.failure) {
    return (
      <>
        It is not known whether this step is still open. {failureWords(steps.failure)}{" "}
        <button type="button" className="next-link" onClick={steps.lookAgain}>
          Look again
        </button>
      </>
    );
  }
  return <Where next={next} />;
}

function WentOn({ session }: { session: SessionId }) {
  const other = useOtherSession(session);
  return other.gone ? (
    <>Went on in a session that was deleted</>
  ) : (
    <>
      Went on in{" "}
      <Link className="next-link" href={`/s/${session}`}>
        {other.title === null ? "another session" : inOneLine(other.title)}
      </Link>
    </>
  );
}

function Where({ next }: { next: Readonly<Next> }) {
  return (
    <>
      Begins a session in the work <bdi className="text-ink">{inOneLine(next.metaContext ?? "")}</bdi>
    </>
  );
}

interface LineProps {
  knot: KnotShape;
  quiet?: boolean;
  label: string;
  command: string;
  /** What is pressed, around the label. */
  go(props: { className: string; "aria-describedby": string; children: ReactNode }): ReactNode;
  beside?: ReactNode;
  after?: ReactNode;
  /** How it stands. */
  children: ReactNode;
}

/** A thin line from the knot, the label on it, and the small print below. */
function Line({ knot, quiet = false, label, command, go, beside, after, children }: LineProps) {
  const print = useId();
  const text = (
    <>
      <span className="next-label" dir="auto">
        {inOneLine(label)}
      </span>
      <Icon name="move" />
      <span aria-hidden="true" className="next-rule" />
    </>
  );
  return (
    <div role="group" aria-label="Next step" className="next-step">
      <span className="next-knot">
        <Knot shape={knot} quiet={quiet} />
      </span>
      <div className="next-line">
        {go({ className: "next-go", "aria-describedby": print, children: text })}
        {beside}
      </div>
      <p id={print} className="next-print">
        {children}
      </p>
      <Command text={command} />
      {after}
    </div>
  );
}

/** Whole, however long: nobody sends what they could not see. */
function Command({ text }: { text: string }) {
  return (
    <p className="next-command" dir="ltr" tabIndex={0} role="region" aria-label="What is sent">
      <Exact text={text.trim()} />
    </p>
  );
}

/** As much room as the step will take. */
export function ComingStep({ words }: { words: string }) {
  return (
    <div className="next-step">
      <span className="next-knot">
        <Knot shape="ahead" quiet />
      </span>
      <p className="next-line">
        <span className="next-go text-soft!">
          <span className="next-label font-normal!">{words}</span>
          <span aria-hidden="true" className="next-rule" />
        </span>
      </p>
      <p className="next-print" aria-hidden="true">
        {"\u00A0"}
      </p>
      <p className="next-command" aria-hidden="true">
        {"\u00A0"}
      </p>
    </div>
  );
}
