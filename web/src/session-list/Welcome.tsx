// What stands beside the list while no session is open: first steps for a newcomer, a quiet page for everybody else.
import type { ReactNode } from "react";
import { use } from "react";

import { useFrame, WantedDirectory } from "../app/FrameContext";
import { baseName } from "../state/context";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Knot } from "../ui/Knot";
import { PathText } from "../ui/PathText";
import { inOneLine } from "../ui/shown";
import { FoundAgents } from "./FoundAgents";
import { ImportOffer } from "./ImportOffer";
import { ShowAround } from "./ShowAround";

export function Welcome({ hasSessions }: { hasSessions: boolean }) {
  return (
    <div className="m-auto w-full max-w-xl px-8 py-12">
      {hasSessions ? (
        <div className="text-center text-soft">
          <h1 className="sr-only">Sessions</h1>
          <p>Choose a session from the list, or begin another.</p>
          <p className="mt-4 text-sm text-balance pointer-coarse:hidden">
            <kbd>j</kbd> <kbd>k</kbd> to move, <kbd>Enter</kbd> to open, <kbd>n</kbd> for a new session, <kbd>?</kbd> for all keys
          </p>
          <p className="mt-4">
            <ShowAround />
          </p>
        </div>
      ) : (
        <FirstSteps />
      )}
      {hasSessions && <ImportOffer />}
    </div>
  );
}

export function FirstSteps() {
  const { show } = useFrame();
  const directory = use(WantedDirectory);
  return (
    <section>
      <h1 className="text-2xl font-semibold tracking-tight text-balance">Start with one session</h1>
      <p className="mt-3 text-soft">
        A session is a conversation with one agent in one directory. Everything that happens in it is written down as it happens.
      </p>
      {/* What somebody has already comes first. */}
      <ImportOffer />
      <div className="mt-6 flex flex-wrap gap-2">
        <Button look="primary" className="max-w-full" onClick={() => show("new-session")}>
          <Icon name="plus" />
          <span className="truncate">{directory === null ? "New session" : `New session in ${inOneLine(baseName(directory))}`}</span>
        </Button>
        <ShowAround />
      </div>
      {directory !== null && (
        <p className="mt-2 flex min-w-0 items-baseline gap-1.5 text-sm text-soft">
          Ready in <PathText path={inOneLine(directory)} />
        </p>
      )}
      <ol className="mt-8">
        <Step place="first" title="Choose an agent and a directory">
          <FoundAgents />
        </Step>
        <Step title="Send a prompt">The answer appears as the agent writes it, here and on every device you have open.</Step>
        <Step place="last" title="Come back whenever you like">
          Reload, lose the connection, restart the server: the session goes on where it was.
        </Step>
      </ol>
    </section>
  );
}

const LINES = { first: "thread-line-first", between: "", last: "thread-line-loose" };

function Step({ title, children, place = "between" }: { title: string; children: ReactNode; place?: keyof typeof LINES }) {
  return (
    <li className="thread-row pb-7">
      <span aria-hidden="true" className={`thread-line ${LINES[place]}`} />
      <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
        <Knot shape="solid" />
      </span>
      <h2 className="font-medium">{title}</h2>
      <p className="mt-0.5 text-soft">{children}</p>
    </li>
  );
}
