// A session in which nothing has been said yet.
import type { Followed } from "../state/followed";
import type { NewerItem } from "../state/transcript";
import { Knot } from "../ui/Knot";
import type { AgentState, SessionRow } from "../wire/names";
import { ForkedFrom } from "./forking/ForkedFrom";
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

interface NothingSaidProps {
  row: SessionRow;
  agent: AgentState;
  forkedFrom: Followed["forkedFrom"];
  newer: readonly NewerItem[];
}

export function NothingSaid({ row, agent, forkedFrom, newer }: NothingSaidProps) {
  return (
    <div className="scrolls safe-x flex min-h-0 flex-1 flex-col justify-end md:px-8">
      <div className="reading">
        <div className="thread-row pb-6">
          <span aria-hidden="true" className="thread-line thread-line-first thread-line-loose" />
          <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
            <Knot shape="hollow" />
          </span>
          <p className="leading-[1.6]">{forkedFrom === null ? "Nothing has been said yet." : <ForkedFrom {...forkedFrom} />}</p>
          {forkedFrom !== null && <p className="mt-1 text-soft">With your first prompt, the agent is told of the turns up to there.</p>}
          <p className="mt-1 text-soft">{waitingWords(agent)}</p>
          {row.agent === "guide" && forkedFrom === null && (
            <p className="mt-1 text-soft">
              Try <code>tour</code>, <code className="whitespace-nowrap">say hello</code>, <code className="whitespace-nowrap">long 2000</code> or <code className="whitespace-nowrap">slow 5</code>.
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
