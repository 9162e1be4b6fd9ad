// What the agent should know of its surroundings; told when it comes back.
import type { FormEvent } from "react";
import { useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { Field, FIELD } from "../../ui/Field";
import type { SessionRow } from "../../wire/names";

export function EnvHint({ row, writable }: { row: SessionRow; writable: boolean }) {
  const http = useHttp();
  const kept = row.meta.envHint ?? "";
  const [written, setWritten] = useState(kept);
  const [words, setWords] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const answer = await http.setEnvHint(row.id, written.trim());
    setBusy(false);
    setWords(answer.ok ? null : failureWords(answer.failure));
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <Field label="Environment" hint="What the agent should know after a break, such as “use the venv in .venv”.">
        {(ids) => (
          <div className="flex gap-2">
            <input {...ids} className={`${FIELD} min-w-0 flex-1`} value={written} readOnly={!writable} onChange={(event) => setWritten(event.target.value)} />
            {writable && (
              <Button type="submit" disabled={busy || written.trim() === kept}>
                Save
              </Button>
            )}
          </div>
        )}
      </Field>
      {words !== null && <Alert className="mt-2">{words}</Alert>}
    </form>
  );
}
