// Which agent a session begins with: those that are on the server's machine, and how to get the others.
import { useId } from "react";

import type { Catalog } from "../app/useCatalog";
import { installedIn } from "../app/useCatalog";
import { Commands } from "../ui/Commands";
import { inOneLine } from "../ui/shown";
import type { Agent } from "../wire/names";

interface AgentChoiceProps {
  catalog: Catalog;
  chosen: string;
  onChoose(name: string): void;
}

export function AgentChoice({ catalog, chosen, onChoose }: AgentChoiceProps) {
  const group = useId();
  const here = installedIn(catalog);
  // Until all were looked for, none is known to be missing.
  const missing = catalog.whole && catalog.failure === null && catalog.answer?.ok ? catalog.answer.value.filter((agent) => !agent.installed) : [];
  const looking = catalog.whole ? (here.length === 0 && catalog.failure === null ? "No agent is installed." : "") : here.length === 0 ? "Looking for agents…" : "Looking for more agents…";
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1.5 text-[0.9375rem] font-medium">Agent</legend>
      <div className="max-h-64 overflow-y-auto overscroll-contain rounded-lg border border-edge">
        {here.map((agent) => (
          <label
            key={agent.name}
            className={`flex cursor-pointer gap-3 border-rule px-3 py-2.5 not-first:border-t ${agent.name === chosen ? "bg-shade" : "hover:bg-shade"}`}
          >
            <input
              type="radio"
              name={group}
              value={agent.name}
              checked={agent.name === chosen}
              onChange={() => onChoose(agent.name)}
              className="mt-1 size-4 shrink-0 accent-focus"
            />
            <span className="min-w-0 flex-1">
              <span className="flex items-baseline justify-between gap-3">
                <span className="truncate font-medium">{inOneLine(agent.title)}</span>
                {agent.version && (
                  <span className="max-w-[50%] truncate text-xs text-soft" title={inOneLine(agent.version)}>
                    {/\d+(\.\d+)+\S*/.exec(inOneLine(agent.version))?.[0] ?? inOneLine(agent.version)}
                  </span>
                )}
              </span>
              <span className="block text-sm text-soft">{inOneLine(agent.description)}</span>
            </span>
          </label>
        ))}
        <p role="status" className={looking === "" ? "" : "border-rule px-3 py-3 text-[0.9375rem] text-soft not-first:border-t"}>
          {looking}
          {!catalog.whole && chosen !== "" && !here.some(({ name }) => name === chosen) && ` Without another choice it is ${inOneLine(chosen)}, as last time.`}
        </p>
      </div>
      {missing.length > 0 && <Missing agents={missing} />}
    </fieldset>
  );
}

function Missing({ agents }: { agents: readonly Agent[] }) {
  return (
    <details className="group mt-1.5">
      <summary className="flex min-h-9 cursor-pointer list-none items-center gap-1.5 rounded text-sm text-soft hover:text-ink [&::-webkit-details-marker]:hidden">
        <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" className="group-open:rotate-90">
          <path d="M4.5 2.5 8 6l-3.5 3.5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
        </svg>
        Not installed ({agents.length})
      </summary>
      <ul className="mt-1 space-y-4 border-l border-rule py-1 pl-4">
        {agents.map((agent) => (
          <li key={agent.name} className="text-sm text-soft">
            <p>
              <span className="font-medium text-ink">{inOneLine(agent.title)}</span> {inOneLine(agent.description)}
            </p>
            {agent.install && (
              <p className="mt-1.5">
                <Commands sentence={agent.install} />
              </p>
            )}
            {agent.notes.map((note) => (
              <p key={note} className="mt-1">
                {inOneLine(note)}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}
