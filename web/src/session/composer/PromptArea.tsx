// What stands where the person writes: how the agent stands, its options, and the composer.
import type { Ref, RefObject } from "react";
import { use, useMemo } from "react";

import { useApp, useAppState } from "../../app/AppContext";
import { ConnectionNotice } from "../../app/FrameContext";
import type { Followed } from "../../state/followed";
import { agentBefore, readToTheEnd } from "../../state/followed";
import { Alert } from "../../ui/Alert";
import type { SessionRow } from "../../wire/names";
import { AgentCard } from "../agent/AgentCard";
import type { Compose } from "./ComposeContext";
import { Composer } from "./Composer";
import { OptionSelects } from "../agent/OptionSelects";
import { useOptions } from "../agent/useOptions";

interface PromptAreaProps {
  ref: Ref<Compose>;
  row: SessionRow;
  followed: Followed;
  /** A turn runs. */
  running: boolean;
  /** The session was begun just now, on this page. */
  fresh: boolean;
  /** A step that was taken in the session above led here. */
  goneOn: boolean;
  /** Nothing has been said in it. */
  empty: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
  onSent(): void;
}

export function PromptArea({ ref, row, followed, running, fresh, goneOn, empty, field, onSent }: PromptAreaProps) {
  const app = useApp();
  const { agent, transcript, earlier } = followed;
  const online = useAppState((state) => state.connection.kind === "live");
  const lost = use(ConnectionNotice) !== null;
  const ready = agent.state === "ready" || agent.state === "unresponsive";
  const options = useOptions({
    session: row.id,
    place: { project: row.project, agent: row.agent },
    options: agent.options,
    ready,
    fresh,
  });
  const read = useMemo(() => readToTheEnd({ transcript, earlier }), [transcript, earlier]);
  const before = (read[0]?.turn ?? 1) - 1;
  return (
    <>
      <AgentCard row={row} agent={agent} before={agentBefore(row.agent, followed)} />
      {options.note?.kind === "failure" && <Alert className="mb-2 ml-7 md:ml-9">{options.note.words}</Alert>}
      <p role="status" className={`ml-7 text-[0.8125rem] text-soft md:ml-9 ${options.note?.kind === "applied" ? "mb-1.5" : ""}`}>
        {options.note?.kind === "applied" && options.note.words}
      </p>
      <Composer
        ref={ref}
        session={row.id}
        agent={row.agent}
        running={running}
        online={online}
        lost={lost}
        begun={fresh && empty}
        goneOn={goneOn}
        asked={row.state === "needs_you"}
        field={field}
        commands={agent.commands}
        turns={read}
        waiting={followed.reading.kind === "ready" ? followed.queue : null}
        readEarlier={before > 0 ? () => app.readTurns(row.id, before, before) : null}
        onSent={onSent}
      >
        <OptionSelects options={options} ready={ready} />
      </Composer>
    </>
  );
}
