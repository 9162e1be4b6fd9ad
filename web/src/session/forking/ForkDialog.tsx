// Begins a session that goes on from a turn of this one, with a prompt that may be an earlier one written anew.
//
// Invariant: nothing of this session changes. A fork that was asked for is asked for again under the same key, so there is
// one of it however often the button is pressed.
import type { FormEvent } from "react";
import { useRef, useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { installedIn, useCatalog } from "../../app/useCatalog";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, FIELD } from "../../ui/Field";
import { navigate, useStillHere } from "../../ui/navigation";
import { Select } from "../../ui/Select";
import { inOneLine } from "../../ui/shown";
import type { SessionRow } from "../../wire/names";
import { Pictures } from "../items/Pictures";
import type { ForkWish } from "./ForkContext";

interface ForkDialogProps {
  row: SessionRow;
  wish: ForkWish;
  onClose(): void;
}

export function ForkDialog({ row, wish, onClose }: ForkDialogProps) {
  const http = useHttp();
  const catalog = useCatalog();
  const [text, setText] = useState(wish.text);
  const [agent, setAgent] = useState(row.agent);
  const [sending, setSending] = useState(false);
  const [objection, setObjection] = useState<string | null>(null);
  const key = useRef(crypto.randomUUID());
  const form = useRef<HTMLFormElement>(null);
  const installed = installedIn(catalog).filter(({ name }) => name !== row.agent);
  const says = text.trim() !== "" || wish.images.length > 0;
  const stillHere = useStillHere();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (sending || (wish.edits !== null && !says)) {
      return;
    }
    setSending(true);
    setObjection(null);
    const isHere = stillHere();
    const answer = await http.fork(row.id, {
      turn: wish.after,
      ...(agent !== row.agent && { agent }),
      ...(text.trim() !== "" && { prompt: text }),
      ...(wish.images.length > 0 && { images: [...wish.images] }),
      key: key.current,
    });
    if (answer.ok) {
      if (isHere()) {
        onClose();
        navigate(`/s/${answer.value.id}`);
      }
      return;
    }
    setSending(false);
    setObjection(failureWords(answer.failure));
    // What was refused may be asked for otherwise; what got no answer is asked for again as it was.
    if (answer.failure.kind === "refused") {
      key.current = crypto.randomUUID();
    }
  };
  return (
    <Dialog title={wish.edits === null ? `Fork from turn ${wish.after}` : `Edit the prompt of turn ${wish.edits} and send it in a fork`} onClose={onClose}>
      <form ref={form} onSubmit={(event) => void submit(event)} className="space-y-4">
        <p className="text-[0.9375rem] text-soft">
          A new session in the same directory goes on from {wish.after === 0 ? "the beginning" : `turn ${wish.after}`}. Its agent is told of the turns up to there. This session stays
          as it is, and files are as they are now.
        </p>
        <Field label="Prompt" optional={wish.edits === null}>
          {(ids) => (
            <textarea
              {...ids}
              data-first-focus=""
              className={`${FIELD} max-h-[40dvh] min-h-28 resize-y`}
              rows={5}
              dir="auto"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                key.current = crypto.randomUUID();
              }}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                  form.current?.requestSubmit();
                }
              }}
            />
          )}
        </Field>
        {wish.images.length > 0 && <Pictures images={wish.images} />}
        <Field label="Agent">
          {(ids) => (
            <Select
              {...ids}
              className="min-h-11 py-2 text-base"
              value={agent}
              onChange={(event) => {
                setAgent(event.target.value);
                key.current = crypto.randomUUID();
              }}
            >
              <option value={row.agent}>{inOneLine(row.agent)}, as here</option>
              {installed.map(({ name, title }) => (
                <option key={name} value={name}>
                  {inOneLine(title)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {objection !== null && <Alert>{objection}</Alert>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={sending || (wish.edits !== null && !says)}>
            {says ? "Fork and send" : "Fork"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
