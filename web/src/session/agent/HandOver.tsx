// Hands the session over to another agent.
import { useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { installedIn, useCatalog } from "../../app/useCatalog";
import { useKeyed } from "../../app/useKeyed";
import { Alert } from "../../ui/Alert";
import { IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Popup } from "../../ui/Popup";
import { inOneLine } from "../../ui/shown";
import type { SessionRow } from "../../wire/names";

interface HandOverProps {
  row: SessionRow;
  running: boolean;
}

export function HandOver({ row, running, className = "" }: HandOverProps & { className?: string }) {
  return (
    <Popup
      label="Hand over to another agent"
      className={`relative ${className}`}
      sheetClass="right-0 top-full mt-1 w-80 max-w-[calc(100vw-1.5rem)]"
      button={(props) => (
        <IconButton label="Hand over to…" {...props}>
          <Icon name="handOver" />
        </IconButton>
      )}
    >
      {(close) => <Agents row={row} running={running} onDone={close} />}
    </Popup>
  );
}

/** Those that are installed, to choose from. */
export function Agents({ row, running, onDone }: HandOverProps & { onDone(): void }) {
  const http = useHttp();
  const keyed = useKeyed();
  const catalog = useCatalog();
  const [sending, setSending] = useState<string | null>(null);
  const [words, setWords] = useState<string | null>(null);
  const others = installedIn(catalog).filter(({ name }) => name !== row.agent);
  const looking = catalog.whole ? (others.length === 0 && catalog.failure === null ? "No other agent is installed." : "") : others.length === 0 ? "Looking for agents…" : "Looking for more agents…";
  const handOver = async (agent: string) => {
    setSending(agent);
    setWords(null);
    const answer = await keyed(agent, (key) => http.resume(row.id, { agent, key }));
    setSending(null);
    if (answer.ok) {
      onDone();
    } else {
      setWords(failureWords(answer.failure));
    }
  };
  return (
    <>
      <div className="px-2.5 pt-1.5 pb-2">
        <p className="text-[0.9375rem] font-medium">Hand over to…</p>
        <p className="mt-0.5 text-sm text-soft">
          {running
            ? "Stop the running turn first."
            : "Another agent goes on with this session; with your next prompt it is told of the newest turns."}
        </p>
      </div>
      {words !== null && <Alert className="mx-2.5 mb-2">{words}</Alert>}
      {catalog.failure !== null && <Alert className="mx-2.5 mb-2">{failureWords(catalog.failure)}</Alert>}
      {others.map(({ name, title, version }) => (
        <button
          key={name}
          type="button"
          disabled={running || sending !== null}
          className="flex min-h-11 w-full items-baseline justify-between gap-3 rounded-lg px-2.5 py-2 text-left text-[0.9375rem] hover:bg-press disabled:opacity-50 disabled:hover:bg-transparent md:min-h-10"
          onClick={() => void handOver(name)}
        >
          <span className="truncate">{inOneLine(title)}</span>
          <span className="max-w-[50%] truncate text-xs text-soft">{sending === name ? "Handing over…" : inOneLine(version ?? "")}</span>
        </button>
      ))}
      <p role="status" className={looking === "" ? "" : "px-2.5 py-1 pb-2 text-sm text-soft"}>
        {looking}
      </p>
    </>
  );
}
