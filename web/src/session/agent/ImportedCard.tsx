// The end of a session that was imported, from another tool or another Throughline: whose agent it was held with, and the agents that can go on with it.
import { useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { installedIn, useCatalog } from "../../app/useCatalog";
import { useKeyed } from "../../app/useKeyed";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { Commands } from "../../ui/Commands";
import { Knot } from "../../ui/Knot";
import { inOneLine } from "../../ui/shown";
import type { SessionRow } from "../../wire/names";

const BUILT_IN = "guide";

export function ImportedCard({ row }: { row: SessionRow }) {
  const http = useHttp();
  const keyed = useKeyed();
  const catalog = useCatalog();
  const [sending, setSending] = useState<string | null>(null);
  const [words, setWords] = useState<string | null>(null);
  const { answer, whole, failure } = catalog;
  const own = answer?.ok ? answer.value.find((agent) => agent.name === row.agent) : undefined;
  const origin = own?.title ?? row.agent;
  // The agent that it comes from is first, and the built-in one, which only shows what can be done, is none to go on with.
  // While that one may still be found the others are held back: they would have to make room for it.
  const others = installedIn(catalog).filter((agent) => agent !== own && agent.name !== BUILT_IN);
  const able = own?.installed ? [own, ...others] : whole ? others : [];
  const goOn = async (agent: string) => {
    setSending(agent);
    setWords(null);
    const answer = await keyed(agent, (key) => http.resume(row.id, { agent, key }));
    setSending(null);
    if (!answer.ok) {
      setWords(failureWords(answer.failure));
    }
  };
  return (
    <div className="thread-row safe-bottom pb-3">
      <span aria-hidden="true" className="thread-line thread-line-ahead" />
      <span className="absolute top-[calc(1.35rem-7px)] left-0">
        <Knot shape="hollow" quiet />
      </span>
      <section aria-label="This session was imported" className="rounded-xl border border-rule bg-shade px-4 py-3">
        <p className="text-[0.9375rem]">
          <strong className="font-semibold">Imported: a conversation with {inOneLine(origin)}.</strong>{" "}
          <span className="text-soft">It is read-only until an agent takes it over, which is then told of the newest turns.</span>
        </p>
        <div className="mt-3 flex flex-wrap gap-2">
          {able.map(({ name, title }) => (
            <Button key={name} disabled={sending !== null} onClick={() => void goOn(name)}>
              {sending === name ? "Starting…" : `Go on with ${inOneLine(title)}`}
            </Button>
          ))}
          <p role="status" className="self-center text-sm text-soft">
            {whole ? "" : able.length === 0 ? "Looking for agents…" : "Looking for more agents…"}
          </p>
        </div>
        {whole && own !== undefined && !own.installed && own.install && (
          <div className="mt-3 text-[0.9375rem] text-soft">
            <p>{inOneLine(origin)} is not installed on this machine. Once it is, reload this page to go on with it.</p>
            <Commands sentence={own.install} />
          </div>
        )}
        {failure !== null && <Alert className="mt-2">{failureWords(failure)}</Alert>}
        {words !== null && <Alert className="mt-2">{words}</Alert>}
      </section>
    </div>
  );
}
