// A prompt that waits for the running turn to end: it can still be changed or taken back.
import type { FormEvent } from "react";
import { useState } from "react";

import type { Failure } from "../../api/http";
import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { authorWords } from "../../state/words";
import { Alert } from "../../ui/Alert";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Knot } from "../../ui/Knot";
import { LongText } from "../../ui/LongText";
import type { QueuedPrompt, SessionId } from "../../wire/names";
import { Pictures } from "../items/Pictures";

interface QueuedPromptRowProps {
  session: SessionId;
  prompt: QueuedPrompt;
}

export function QueuedPromptRow({ session, prompt }: QueuedPromptRowProps) {
  const http = useHttp();
  const [edited, setEdited] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (edited === null) {
      return;
    }
    const answer = await http.changePrompt(session, prompt.interactionId, edited);
    setFailure(answer.ok ? null : answer.failure);
    if (answer.ok) {
      setEdited(null);
    }
  };
  const remove = async () => {
    const answer = await http.removePrompt(session, prompt.interactionId);
    setFailure(answer.ok ? null : answer.failure);
  };

  const author = authorWords(prompt.by);
  return (
    <section aria-label="Waiting prompt" className="thread-row pb-6">
      <span aria-hidden="true" className="thread-line thread-line-ahead" />
      <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
        <Knot shape="ahead" />
      </span>
      <p className="text-sm leading-[1.6rem] text-soft">Waiting its turn{author !== null && ` · ${author}`}</p>
      {edited === null ? (
        <div className="flex items-start justify-between gap-4">
          <div className="min-w-0">
            <LongText text={prompt.text} label="All of the waiting prompt">
              {(words) => <p className="verbatim leading-[1.6]">{words}</p>}
            </LongText>
            {prompt.images !== undefined && prompt.images.length > 0 && <Pictures images={prompt.images} />}
          </div>
          <div className="-mt-2 flex">
            <IconButton label="Change the waiting prompt" onClick={() => setEdited(prompt.text)}>
              <Icon name="pencil" />
            </IconButton>
            <IconButton label="Remove the waiting prompt" onClick={() => void remove()}>
              <Icon name="close" />
            </IconButton>
          </div>
        </div>
      ) : (
        <form onSubmit={(event) => void save(event)} className="mt-1 space-y-2">
          <textarea
            aria-label="Waiting prompt"
            className="block w-full rounded-lg border border-edge bg-paper px-3 py-2 text-base leading-6"
            rows={Math.min(8, edited.split("\n").length + 1)}
            dir="auto"
            value={edited}
            autoFocus
            onChange={(event) => setEdited(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                setEdited(null);
              }
            }}
          />
          <div className="flex gap-2">
            <Button type="submit" disabled={edited.trim() === "" && (prompt.images ?? []).length === 0}>
              Save
            </Button>
            <Button look="quiet" onClick={() => setEdited(null)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
      {failure !== null && <Alert className="mt-2">{failureWords(failure)}</Alert>}
    </section>
  );
}
