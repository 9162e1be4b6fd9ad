// Begins a session: which agent, in which directory, and under what name if any.
//
// Invariant: a directory that the server offers late never gets into what is being written.
import type { FormEvent, ReactNode } from "react";
import { useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import type { App } from "../state/app";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import type { Agent, SessionId } from "../wire/names";

/** The server wants to hear twice that an agent may work in such a directory. */
const CONFIRM_CODE = "confirm_required";
const LAST_DIRECTORY = "throughline.lastDirectory";
const FIELD =
  "block min-h-11 w-full rounded-lg border border-edge bg-paper px-3 py-2 text-base placeholder:text-soft focus-visible:outline-offset-0";

interface NewSessionDialogProps {
  app: App;
  onClose(): void;
  onCreated(session: SessionId): void;
}

export function NewSessionDialog({ app, onClose, onCreated }: NewSessionDialogProps) {
  const [agents, setAgents] = useState<readonly Agent[]>([]);
  const [agent, setAgent] = useState("");
  const [cwd, setCwd] = useState(() => localStorage.getItem(LAST_DIRECTORY) ?? "");
  const directoryField = useRef<HTMLInputElement>(null);
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const [sending, setSending] = useState(false);
  // The same wish has the same key however often it is sent; a changed one is another wish.
  const wish = useRef({ key: crypto.randomUUID(), of: "" });

  useEffect(() => {
    let open = true;
    void app.http.agents().then((answer) => {
      if (!open) {
        return;
      }
      if (answer.ok) {
        setAgents(answer.value.agents);
        setAgent(answer.value.agents[0]?.name ?? "");
      } else {
        setFailure(answer.failure);
      }
    });
    // Where the server was started is the likeliest place for a first session.
    void app.http.whoami().then((answer) => {
      const field = directoryField.current;
      const directory = answer.ok ? answer.value.directory : null;
      if (!open || !directory || field?.value !== "") {
        return;
      }
      flushSync(() => setCwd(directory));
      // Whoever is about to write does not see it come: selected, it gives way to the first letter.
      if (document.activeElement === field) {
        field.select();
      }
    });
    return () => {
      open = false;
    };
  }, [app]);

  const create = async (confirm: boolean) => {
    const body = { agent, cwd: cwd.trim(), name: name.trim() || null, confirm };
    const of = JSON.stringify(body);
    if (wish.current.of !== of) {
      wish.current = { key: crypto.randomUUID(), of };
    }
    setSending(true);
    setFailure(null);
    const answer = await app.http.createSession({ ...body, key: wish.current.key });
    setSending(false);
    if (answer.ok) {
      localStorage.setItem(LAST_DIRECTORY, body.cwd);
      onCreated(answer.value.id);
    } else {
      setFailure(answer.failure);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void create(false);
  };

  const mustConfirm = failure?.kind === "refused" && failure.code === CONFIRM_CODE;
  return (
    <Dialog title="New session" onClose={onClose}>
      <form onSubmit={submit} className="space-y-5">
        <Field label="Agent" hint={agents.find(({ name }) => name === agent)?.description}>
          {(ids) => (
            <div className="relative">
              <select {...ids} className={`${FIELD} appearance-none pr-10`} value={agent} onChange={(event) => setAgent(event.target.value)} required>
                {agents.map(({ name, title }) => (
                  <option key={name} value={name}>
                    {title}
                  </option>
                ))}
              </select>
              <span className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-soft">
                <Icon name="open" />
              </span>
            </div>
          )}
        </Field>
        <Field label="Directory" hint="Where the agent works. An absolute path on the machine that runs the server.">
          {(ids) => (
            <input
              {...ids}
              ref={directoryField}
              className={`${FIELD} font-mono text-[0.9375rem]`}
              data-first-focus=""
              value={cwd}
              onChange={(event) => setCwd(event.target.value)}
              placeholder="/home/you/project"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              required
            />
          )}
        </Field>
        <Field label="Name" optional hint="Without one, the first prompt names the session.">
          {(ids) => (
            <input {...ids} className={FIELD} value={name} onChange={(event) => setName(event.target.value)} maxLength={200} autoComplete="off" />
          )}
        </Field>
        {failure !== null && <Alert>{failureWords(failure)}</Alert>}
        <div className="flex flex-wrap justify-end gap-2 pt-1">
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          {mustConfirm ? (
            <Button look="primary" disabled={sending} onClick={() => void create(true)}>
              Start there anyway
            </Button>
          ) : (
            <Button look="primary" type="submit" disabled={sending || agent === ""}>
              {sending ? "Starting…" : "Start session"}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  label: string;
  hint?: string | undefined;
  optional?: boolean;
  children(ids: FieldIds): ReactNode;
}

function Field({ label, hint, optional = false, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-[0.9375rem] font-medium">
        {label}
        {optional && <span className="font-normal text-soft"> (optional)</span>}
      </label>
      {children({ id, "aria-describedby": hint === undefined ? undefined : hintId })}
      {hint !== undefined && (
        <p id={hintId} className="mt-1.5 text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}
