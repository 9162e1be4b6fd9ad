// Where a session begins in the transcript: the work that it belongs to, the step that it was begun with, its title.
//
// Invariant: it is as high whatever stands in it, so that nothing moves when more of it is known.
import type { Followed } from "../../state/followed";
import { Knot } from "../../ui/Knot";
import { Link } from "../../ui/Link";
import { inOneLine } from "../../ui/shown";
import type { SessionId } from "../../wire/names";
import { ForkedFrom } from "../forking/ForkedFrom";

/** How it stands with the session before the first one that is shown. */
export type Before = { kind: "none" } | { kind: "more"; show(): void } | { kind: "reading" } | { kind: "failed"; words: string };

interface SessionHeadProps {
  session: SessionId;
  title: string;
  /** The work's name. */
  work: string | null;
  /** What the step was called. */
  step: string | null;
  /** The turn that it was forked from. */
  forkedFrom: Followed["forkedFrom"];
  /** The session is shown above the open one. */
  past: boolean;
  /** Nothing is above it. */
  first: boolean;
  before: Before;
}

export function SessionHead({ session, title, work, step, forkedFrom, past, first, before }: SessionHeadProps) {
  const words = [work === null ? null : `Work ${inOneLine(work)}`, step === null ? null : `step ${inOneLine(step)}`].filter((part) => part !== null).join(" · ");
  return (
    <section aria-label={`The session “${title}” begins here`} className="thread-row pt-2 pb-7 [--knot-y:2.05rem]">
      <span aria-hidden="true" className={`thread-line ${first && before.kind === "none" ? "thread-line-first" : ""}`} />
      <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
        <Knot shape="retied" />
      </span>
      <div className="border-b border-rule pb-2">
        <div className="flex h-6 items-center justify-between gap-3 text-[0.8125rem] text-soft">
          <p className="min-w-0 truncate" dir="auto" title={forkedFrom === null ? words : undefined}>
            {forkedFrom !== null ? <ForkedFrom {...forkedFrom} /> : words === "" ? "Session" : words}
          </p>
          <Slot before={first ? before : { kind: "none" }} />
        </div>
        <h2 className="h-7 truncate text-[1.0625rem] leading-7 font-semibold tracking-tight" dir="auto" title={title}>
          {past ? (
            <Link href={`/s/${session}`} className="rounded hover:underline">
              {title}
            </Link>
          ) : (
            title
          )}
        </h2>
      </div>
    </section>
  );
}

function Slot({ before }: { before: Before }) {
  switch (before.kind) {
    case "none":
      return null;
    case "more":
      return (
        <button type="button" className="small-button -my-1 shrink-0" onClick={before.show}>
          Show the session before
        </button>
      );
    case "reading":
      return (
        <span role="status" className="shrink-0">
          Reading the session before…
        </span>
      );
    case "failed":
      return (
        <span role="status" className="min-w-0 truncate" title={before.words}>
          {before.words}
        </span>
      );
  }
}
