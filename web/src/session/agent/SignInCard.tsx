// The agent wants somebody to sign in: its own ways to do so, one button each.
import { useState } from "react";

import { failureWords } from "../../api/http";
import { useAppState, useHttp } from "../../app/AppContext";
import { useCatalog } from "../../app/useCatalog";
import { useKeyed } from "../../app/useKeyed";
import type { AgentView } from "../../state/agent";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { Command, Commands } from "../../ui/Commands";
import { inOneLine } from "../../ui/shown";
import type { SessionRow } from "../../wire/names";

interface SignInCardProps {
  row: SessionRow;
  agent: AgentView;
}

type Progress =
  | { kind: "none" }
  /** The agent was told; it may want something done in a browser or a terminal. */
  | { kind: "under_way"; method: string }
  /** The person signed in at a terminal, and the agent is started again. */
  | { kind: "trying" }
  | { kind: "failed"; words: string };

export function SignInCard({ row, agent }: SignInCardProps) {
  const http = useHttp();
  const keyed = useKeyed();
  /** How often the agent has asked: what is pressed after another asking is another wish. */
  const [asked, setAsked] = useState(0);
  const [progress, setProgress] = useState<Progress>({ kind: "none" });
  const [methods, setMethods] = useState(agent.methods);
  if (methods !== agent.methods) {
    // The agent has spoken again, and wants what it wanted before.
    setMethods(agent.methods);
    setAsked(asked + 1);
    setProgress(progress.kind === "under_way" ? { kind: "failed", words: "The agent still wants you to sign in." } : progress);
  }
  // It is sent as soon as the agent is there; a second one would be sent as well.
  const waits = useAppState((state) => (state.followed.get(row.id)?.queue.length ?? 0) > 0);
  const { answer: catalog } = useCatalog();
  const listed = catalog?.ok ? catalog.value.find(({ name }) => name === row.agent) : undefined;
  const busy = progress.kind === "under_way" || progress.kind === "trying";
  const title = inOneLine(listed?.title ?? row.agent);

  const tryAgain = async () => {
    setProgress({ kind: "trying" });
    const answer = await keyed(`${asked} again`, (key) => http.resume(row.id, { key }));
    setProgress(answer.ok ? { kind: "none" } : { kind: "failed", words: failureWords(answer.failure) });
  };

  const signIn = async (method: string) => {
    setProgress({ kind: "under_way", method });
    const answer = await keyed(`${asked} method ${method}`, (key) => http.signInToAgent(row.id, { method, key }));
    if (!answer.ok) {
      setProgress({ kind: "failed", words: failureWords(answer.failure) });
    }
  };

  return (
    <section aria-label={`Sign in to ${title}`} className="max-h-[50dvh] overflow-y-auto rounded-xl border border-rule bg-shade px-4 py-3">
      <h2 className="font-semibold">{title} wants you to sign in</h2>
      {methods.length > 0 && (
        <ul className="mt-3 space-y-3">
          {methods.map(({ id, name, description, run }) => (
            <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
              {typeof run === "string" ? (
                <>
                  <p className="min-w-0 text-[0.9375rem]">
                    {inOneLine(name)}: run <Command text={inOneLine(run)} /> in a terminal, then
                  </p>
                  <Button disabled={busy} onClick={() => void tryAgain()}>
                    Try again
                  </Button>
                </>
              ) : (
                <Button className="max-w-full" disabled={busy} onClick={() => void signIn(id)}>
                  <span className="truncate">{inOneLine(name)}</span>
                </Button>
              )}
              {description && <p className="min-w-48 flex-1 text-sm wrap-anywhere text-soft">{inOneLine(description)}</p>}
            </li>
          ))}
        </ul>
      )}
      <p role="status" className={`text-sm ${progress.kind === "under_way" ? "mt-3" : ""}`}>
        {progress.kind === "under_way" && "Signing in. The agent may have opened a window on the machine that runs the server; finish there."}
      </p>
      {progress.kind === "failed" && <Alert className="mt-3">{progress.words}</Alert>}
      <p className="mt-3 text-sm text-soft">
        {methods.length > 0 ? "Signing in with the agent’s own program in a terminal works too." : "Sign in with the agent’s own program in a terminal."}{" "}
        {listed?.signIn && (
          <>
            <Commands sentence={listed.signIn} />{" "}
          </>
        )}
        {waits ? "Then try again: the prompt that waits is sent." : "Then send your prompt again."}
      </p>
      {waits && !methods.some(({ run }) => typeof run === "string") && (
        <Button className="mt-2" disabled={busy} onClick={() => void tryAgain()}>
          Try again
        </Button>
      )}
    </section>
  );
}
