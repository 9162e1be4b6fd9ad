// Every agent that can be named: whether it is here, how to get it and sign in to it, whether it works, who uses it.
import { useState } from "react";

import { failureWords, sentence } from "../api/http";
import type { Answer } from "../api/http";
import { useAppState, useHttp } from "../app/AppContext";
import { installedIn, useCatalog } from "../app/useCatalog";
import { listedRows } from "../state/sessionList";
import { titleOf } from "../state/words";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { Command, Commands } from "../ui/Commands";
import { counted } from "../ui/counted";
import { Link } from "../ui/Link";
import { inOneLine } from "../ui/shown";
import type { Agent, AgentTrial, SessionRow } from "../wire/names";

/** How many sessions of an agent are named. */
const NAMED_SESSIONS = 3;

export function AgentsSection() {
  const catalog = useCatalog();
  const { answer, whole, failure } = catalog;
  const list = useAppState((state) => state.list);
  const rows = listedRows(list);
  // Until all were looked for, none is known to be missing.
  const agents = whole && failure === null && answer?.ok ? answer.value : installedIn(catalog);
  return (
    <>
      {agents.length > 0 && (
        <ul className="divide-y divide-rule border-y border-rule">
          {agents.map((agent) => (
            <AgentRow key={agent.name} agent={agent} used={rows.filter((row) => row.agent === agent.name)} whole={list.extent.kind === "whole"} />
          ))}
        </ul>
      )}
      <p role="status" className="pt-2 text-soft">
        {whole ? "" : agents.length === 0 ? "Looking for agents…" : "Looking for more agents…"}
      </p>
      {failure !== null && <Alert>{failureWords(failure)}</Alert>}
    </>
  );
}

interface AgentRowProps {
  agent: Agent;
  /** Its sessions among those that are listed. */
  used: readonly SessionRow[];
  /** Whether all sessions are listed. */
  whole: boolean;
}

function AgentRow({ agent, used, whole }: AgentRowProps) {
  return (
    <li className="py-4">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h3 className="font-semibold">{inOneLine(agent.title)}</h3>
        {agent.name !== agent.title && <code className="text-[0.8125rem] text-soft">{inOneLine(agent.name)}</code>}
        <span className={`ml-auto text-sm ${agent.installed ? "text-running" : "text-soft"}`}>
          {agent.installed ? `Installed${agent.version ? ` · ${inOneLine(agent.version)}` : ""}` : "Not installed"}
        </span>
      </div>
      <p className="mt-0.5 text-sm text-soft">{inOneLine(agent.description)}</p>
      <div className="mt-2 space-y-1.5 text-sm">
        {!agent.installed && agent.install && (
          <p>
            <span className="text-soft">Install: </span>
            <Commands sentence={agent.install} />
          </p>
        )}
        {agent.signIn && (
          <p>
            {!agent.signIn.startsWith("Sign in") && <span className="text-soft">Sign in: </span>}
            <Commands sentence={agent.signIn} />
          </p>
        )}
        {agent.notes.map((note) => (
          <p key={note} className="text-soft">
            {inOneLine(note)}
          </p>
        ))}
        {used.length > 0 && <Used rows={used} whole={whole} />}
      </div>
      {agent.installed && <Test name={agent.name} title={agent.title} />}
    </li>
  );
}

function Used({ rows, whole }: { rows: readonly SessionRow[]; whole: boolean }) {
  return (
    <p className="text-soft">
      {whole ? "" : "At least "}
      {counted(rows.length, "session")}:{" "}
      {rows.slice(0, NAMED_SESSIONS).map((row, index) => (
        <span key={row.id}>
          {index > 0 && ", "}
          <Link href={`/s/${row.id}`} className="text-ink underline decoration-rule underline-offset-2 hover:decoration-ink">
            {inOneLine(titleOf(row))}
          </Link>
        </span>
      ))}
      {rows.length > NAMED_SESSIONS && " …"}
    </p>
  );
}

type Testing = { kind: "ready" } | { kind: "running" } | { kind: "done"; answer: Answer<AgentTrial> };

function Test({ name, title }: { name: string; title: string }) {
  const http = useHttp();
  const [testing, setTesting] = useState<Testing>({ kind: "ready" });
  const test = async () => {
    setTesting({ kind: "running" });
    setTesting({ kind: "done", answer: await http.testAgent(name) });
  };
  const words = testing.kind === "running" ? "Starting it…" : testing.kind === "done" ? "Test it again" : "Test it";
  return (
    <div className="mt-3">
      <Button disabled={testing.kind === "running"} aria-label={`${words}: ${inOneLine(title)}`} onClick={() => void test()}>
        {words}
      </Button>
      <div role="status" className="mt-2 text-sm">
        {testing.kind === "done" && <Outcome answer={testing.answer} />}
      </div>
    </div>
  );
}

function Outcome({ answer }: { answer: Answer<AgentTrial> }) {
  if (!answer.ok) {
    return <span className="text-failed">{failureWords(answer.failure)}</span>;
  }
  const { outcome, program, methods, reason } = answer.value;
  const who = program ? inOneLine(program) : "It";
  switch (outcome) {
    case "ready":
      return <span className="text-running">{who} started, opened a session and was stopped again. It is ready for prompts.</span>;
    case "signed_out":
      return (
        <span className="text-warning">
          {who} started, and wants you to sign in first
          {methods.length === 0
            ? "."
            : methods.map(({ id, name, run }) => (
                <span key={id} className="mt-1 block text-ink">
                  {inOneLine(name)} {run ? <Command text={inOneLine(run)} /> : "(begin a session with it to choose this)"}
                </span>
              ))}
        </span>
      );
    case "failed":
      return <span className="text-failed wrap-anywhere">{inOneLine(sentence(reason ?? "it failed"))}</span>;
  }
}
