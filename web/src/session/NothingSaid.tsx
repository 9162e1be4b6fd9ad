// A session in which nothing has been said yet.
import type { NewerItem } from "../state/transcript";
import { Knot } from "../ui/Knot";
import type { AgentState, SessionRow } from "../wire/names";
import { MadeByNewer } from "./items/MadeByNewer";

/** What an empty session waits for. */
function waitingWords(agent: AgentState): string {
  switch (agent) {
    case "starting":
      return "The agent is starting; a prompt sent now waits for it.";
    case "signed_out":
      return "The agent wants you to sign in first.";
    case "failed":
      return "The agent did not start.";
    case "stopped":
    case "ready":
    case "unresponsive":
      return "The agent is ready and waits for your first prompt.";
  }
}

export function NothingSaid({ row, agent, newer }: { row: SessionRow; agent: AgentState; newer: readonly NewerItem[] }) {
  return (
    <div className="scrolls safe-x flex min-h-0 flex-1 flex-col justify-end md:px-8">
      <div className="reading">
        <div className="thread-row pb-6">
          <span aria-hidden="true" className="thread-line thread-line-first thread-line-loose" />
          <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
            <Knot shape="hollow" />
          </span>
          <p className="leading-[1.6]">The thread begins here.</p>
          <p className="mt-1 text-soft">{waitingWords(agent)}</p>
          {row.agent === "guide" && (
            <p className="mt-1 text-soft">
              Try <code>say hello</code>, <code>long 2000</code> or <code>slow 5</code>.
            </p>
          )}
          {newer.map((item, index) => (
            <MadeByNewer key={index} item={item} />
          ))}
        </div>
      </div>
    </div>
  );
}
