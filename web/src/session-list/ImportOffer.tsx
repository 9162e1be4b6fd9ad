// Offers to import what other tools left on this machine, and shows how far that has got.
import { useEffect, useState } from "react";

import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { counted } from "../ui/counted";
import type { Imports } from "../wire/names";

const LOOK_EVERY_MS = 400;
const DISMISSED = "throughline.import.dismissed";

const TOOLS: Readonly<Record<string, string>> = {
  claude: "Claude Code",
  codex: "Codex",
  opencode: "opencode",
  gemini: "Gemini CLI",
  goose: "goose",
  qwen: "Qwen Code",
  kimi: "Kimi Code",
  copilot: "GitHub Copilot",
};

export function ImportOffer() {
  const http = useHttp();
  const [imports, setImports] = useState<Imports | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(DISMISSED) !== null);
  // Begun here, so its end is told here.
  const [begun, setBegun] = useState(false);
  const running = imports?.progress.running ?? false;
  useEffect(() => {
    if (dismissed) {
      return;
    }
    let wanted = true;
    const look = () =>
      void http.imports().then((answer) => {
        if (wanted && answer.ok) {
          setImports(answer.value);
        }
      });
    look();
    const timer = running ? setInterval(look, LOOK_EVERY_MS) : undefined;
    return () => {
      wanted = false;
      clearInterval(timer);
    };
  }, [http, running, dismissed]);

  if (dismissed || imports === null || imports.sources.length === 0) {
    return null;
  }
  const { sources, progress } = imports;
  // Whoever has imported once is not asked again, whatever was restarted since; the end of what this server ran is told.
  const isKnown = sources.some(({ known = 0 }) => known > 0);
  if (isKnown && !begun && !progress.running && progress.total === 0) {
    return null;
  }
  const done = !progress.running && progress.total > 0;
  const begin = async () => {
    setFailure(null);
    setBegun(true);
    const answer = await http.beginImport();
    if (answer.ok) {
      setImports({ sources, progress: answer.value });
    } else {
      setFailure(failureWords(answer.failure));
    }
  };
  const dismiss = () => {
    localStorage.setItem(DISMISSED, "1");
    setDismissed(true);
  };
  return (
    <section aria-label="Your own history" className="mt-8 rounded-xl border border-rule bg-shade px-4 py-3">
      <h2 className="font-medium">Import what you already have</h2>
      <p className="mt-0.5 text-sm text-soft">{sourceWords(imports)} Nothing of theirs is changed.</p>
      {progress.running && (
        <div className="mt-3">
          <progress className="w-full accent-running" value={progress.done} max={Math.max(progress.total, 1)} aria-label="Importing" />
          <p className="text-sm text-soft">
            {progress.done} of {counted(progress.total, "conversation")}, {counted(progress.turns, "turn")}
          </p>
        </div>
      )}
      {/* Read out when it begins and when it has ended; how far it is, the bar says to whoever asks. */}
      <p role="status" className={done ? "mt-3 text-sm" : "sr-only"}>
        {progress.running
          ? "Importing…"
          : done
            ? `Imported ${counted(progress.added, "session")} with ${counted(progress.turns, "turn")}${progress.failed > 0 ? `; ${progress.failed} could not be read` : ""}.`
            : ""}
      </p>
      {failure !== null && <Alert className="mt-2">{failure}</Alert>}
      {!progress.running && (
        <div className="mt-3 flex flex-wrap gap-2">
          {!done && (
            <Button look="primary" onClick={() => void begin()}>
              Import
            </Button>
          )}
          <Button onClick={dismiss}>{done ? "Done" : "Not now"}</Button>
        </div>
      )}
    </section>
  );
}

function sourceWords({ sources }: Imports): string {
  const told = sources.map(({ tool, sessions }) => `${sessions} of ${TOOLS[tool] ?? tool}`);
  const count = sources.reduce((sum, { sessions }) => sum + sessions, 0);
  return `${count === 1 ? "One conversation was" : `${count} conversations were`} found on this machine: ${told.join(", ")}.`;
}
