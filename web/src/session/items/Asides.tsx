// What is neither the person's words nor the agent's: notices, the mark of a compaction, what was told to the agent.
import { memo } from "react";

import { Fold } from "../../ui/Fold";
import { Link } from "../../ui/Link";
import { Chunks, LongText } from "../../ui/LongText";
import { shown } from "../../ui/shown";
import type { Notice as NoticeWords, SessionId, Severity } from "../../wire/names";
import { Markdown } from "./Markdown";
import { Step } from "./Step";
import "./Asides.css";

const SEVERITIES: Record<Severity, string> = { info: "Note", warning: "Warning", error: "Error" };
const COLOURS: Record<Severity, string> = { info: "text-soft", warning: "text-warning", error: "text-failed" };
const BORDERS: Record<Severity, string> = { info: "border-rule", warning: "border-warning", error: "border-failed" };

export const Notice = memo(function Notice({ severity, title, description }: Readonly<NoticeWords>) {
  return (
    <Step bead={null} label={SEVERITIES[severity]}>
      <div className={`border-l-2 pl-3 text-[0.9375rem] ${BORDERS[severity]}`}>
        <p className="verbatim">
          <strong className={`font-semibold ${COLOURS[severity]}`}>{SEVERITIES[severity]}.</strong> {shown(title)}
        </p>
        {description && (
          <LongText text={description} label="More of the notice">
            {(words) => <p className="verbatim mt-0.5 text-soft">{words}</p>}
          </LongText>
        )}
      </div>
    </Step>
  );
});

export const Compaction = memo(function Compaction({ summary }: { summary: string | null }) {
  return (
    <Step bead="retied" label="The agent’s memory begins here">
      <div className="compaction" role="separator" aria-label="The agent put its memory together here" />
      <p className="text-[0.9375rem] text-soft">The agent put its memory together here; what is above it is only summarised for it.</p>
      {summary !== null && summary.trim() !== "" && (
        <Fold line={<span className="text-soft">The summary</span>}>
          {() => (
            <div className="my-1 border-l border-rule pl-4 text-[0.9375rem]">
              <Markdown text={summary} growing={false} />
            </div>
          )}
        </Fold>
      )}
    </Step>
  );
});

/** What an agent asks in a session that is not the open one. */
export const AskedElsewhere = memo(function AskedElsewhere({ session, turn, title }: { session: SessionId; turn: number; title: string }) {
  return (
    <Step bead="asking" label="The agent needs your answer">
      <p className="text-[0.9375rem]">
        <strong className="font-semibold text-thread">Needs your answer:</strong> {shown(title)}{" "}
        <Link href={`/s/${session}#t${turn}`} className="underline underline-offset-2">
          Answer it there
        </Link>
      </p>
    </Step>
  );
});

interface ResumeCardProps {
  text: string;
  /** The session that it was brought along from, if it begins a session of its own. */
  from: SessionId | null;
  /** That session was deleted. */
  fromGone?: boolean;
}

/** The page's own words around text that the server wrote: nobody may take it for the person's. */
export const ResumeCard = memo(function ResumeCard({ text, from, fromGone = false }: ResumeCardProps) {
  const name = from === null ? "What the agent was told" : "Brought along from the session before";
  return (
    <Step bead="retied" label={name}>
      <div className="resume-card overflow-hidden rounded-lg border border-dashed border-edge px-3 py-1">
        <Fold
          line={
            <span className="min-w-0 text-balance">
              {name} <span className="ml-1 text-[0.8125rem] whitespace-nowrap text-soft max-md:sr-only">not your words</span>
            </span>
          }
        >
          {() => (
            <div className="border-t border-rule py-2">
              <p className="text-[0.8125rem] text-soft">
                {from === null ? (
                  "Throughline wrote this from the log, so that the agent could go on where the session stood. You did not write it."
                ) : (
                  <>
                    Throughline told the agent this of{" "}
                    {fromGone ? (
                      "the session that this one goes on from, which was deleted since"
                    ) : (
                      <Link href={`/s/${from}`} className="underline underline-offset-2">
                        the session that this one goes on from
                      </Link>
                    )}
                    , ahead of the first prompt. You did not write it.
                  </>
                )}
              </p>
              <p className="verbatim mt-2 max-h-[60vh] overflow-auto font-mono text-[0.8125rem] leading-normal" tabIndex={0}>
                <Chunks text={text} show={shown} />
              </p>
            </div>
          )}
        </Fold>
      </div>
    </Step>
  );
});
