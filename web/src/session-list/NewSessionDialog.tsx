// Begins a session: which agent, in which directory, and under what name if any.
//
// Invariant: a directory that the server offers late never gets into what is being written.
import type { FormEvent } from "react";
import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { installedIn, useCatalog } from "../app/useCatalog";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field, FIELD } from "../ui/Field";
import { useStillHere } from "../ui/navigation";
import type { SessionId } from "../wire/names";
import { AgentChoice } from "./AgentChoice";
import { DirectoryField } from "./DirectoryField";

/** The server wants to hear twice that an agent may work in such a directory. */
const CONFIRM_CODE = "confirm_required";
const LAST_AGENT = "throughline.lastAgent";
const LAST_DIRECTORY = "throughline.lastDirectory";

interface NewSessionDialogProps {
  /** Where to begin, if whoever opened the page said so. */
  directory?: string | null;
  onClose(): void;
  onCreated(session: SessionId): void;
}

export function NewSessionDialog({ directory = null, onClose, onCreated }: NewSessionDialogProps) {
  const http = useHttp();
  const catalog = useCatalog();
  const here = installedIn(catalog);
  const [chosen, setChosen] = useState<string | null>(null);
  const [last] = useState(() => localStorage.getItem(LAST_AGENT));
  // What the person chose stays chosen when more agents come; else it is the last one that was used, also before it is found.
  const isHere = (wish: string | null) => here.some(({ name }) => name === wish);
  const known = isHere(chosen) ? chosen : isHere(last) || !catalog.whole ? last : null;
  const agent = known ?? here[0]?.name ?? "";
  const [cwd, setCwd] = useState(() => directory ?? localStorage.getItem(LAST_DIRECTORY) ?? "");
  const directoryField = useRef<HTMLInputElement>(null);
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const [sending, setSending] = useState(false);
  // The same wish has the same key however often it is sent; a changed one is another wish.
  const wish = useRef({ key: crypto.randomUUID(), of: "" });

  useEffect(() => {
    let open = true;
    // Where the server was started is the likeliest place for a first session.
    void http.whoami().then((answer) => {
      const field = directoryField.current;
      const started = answer.ok ? answer.value.directory : null;
      if (!open || !started || field?.value !== "") {
        return;
      }
      flushSync(() => setCwd(started));
      // Whoever is about to write does not see it come: selected, it gives way to the first letter.
      if (document.activeElement === field) {
        field.select();
      }
    });
    return () => {
      open = false;
    };
  }, [http]);

  const stillHere = useStillHere();
  const create = async (confirm: boolean) => {
    const isHere = stillHere();
    const body = { agent, cwd: cwd.trim().replace(/(?<=.)\/+$/, ""), name: name.trim() || null, confirm };
    const of = JSON.stringify(body);
    if (wish.current.of !== of) {
      wish.current = { key: crypto.randomUUID(), of };
    }
    setSending(true);
    setFailure(null);
    const answer = await http.createSession({ ...body, key: wish.current.key });
    setSending(false);
    if (answer.ok) {
      localStorage.setItem(LAST_AGENT, body.agent);
      localStorage.setItem(LAST_DIRECTORY, body.cwd);
      if (isHere()) {
        onCreated(answer.value.id);
      }
    } else {
      setFailure(answer.failure);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (agent !== "" && !sending) {
      void create(false);
    }
  };

  const mustConfirm = failure?.kind === "refused" && failure.code === CONFIRM_CODE;
  return (
    <Dialog title="New session" onClose={onClose}>
      <form onSubmit={submit} className="space-y-5">
        <AgentChoice catalog={catalog} chosen={agent} onChoose={setChosen} />
        {catalog.failure !== null && <Alert>{failureWords(catalog.failure)}</Alert>}
        <Field label="Directory" hint="Where the agent works, on the machine that runs the server.">
          {(ids) => (
            <DirectoryField
              ids={ids}
              field={directoryField}
              value={cwd}
              onChange={(value) => {
                setCwd(value);
                // What was objected to was another directory; a yes to that one must not hold for this.
                setFailure(null);
              }}
            />
          )}
        </Field>
        <Field label="Name" optional hint="Without one, the first prompt names the session.">
          {(ids) => (
            <input {...ids} className={FIELD} dir="auto" value={name} onChange={(event) => setName(event.target.value)} maxLength={200} autoComplete="off" />
          )}
        </Field>
        {failure !== null && <Alert>{failureWords(failure)}</Alert>}
        <div className="flex flex-wrap justify-end gap-2 pt-1">
          <Button onClick={onClose}>Cancel</Button>
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
