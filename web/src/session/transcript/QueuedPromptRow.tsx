// A prompt that waits for the running turn to end: it can still be changed or taken back.
//
// Invariant: what is typed here is not lost when the prompt's turn begins meanwhile: the composer has it then.
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
import type { QueuedPrompt, SessionId } from "../../wire/names";
import { readEdit, storeEdit } from "../composer/queuedEdits";
import { ItemsSessionContext } from "../items/ItemsSessionContext";
import { Pictures } from "../items/Pictures";
import { PromptText } from "./PromptText";

interface QueuedPromptRowProps {
  session: SessionId;
  prompt: QueuedPrompt;
  /** Its agent wants somebody to sign in first. */
  signedOut?: boolean;
}

export function QueuedPromptRow({ session, prompt, signedOut = false }: QueuedPromptRowProps) {
  const http = useHttp();
  const { interactionId } = prompt;
  const [edited, setEdited] = useState(() => readEdit(session, interactionId));
  // Whoever scrolls back to it may be writing elsewhere.
  const [begun, setBegun] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const edit = (text: string | null) => {
    setEdited(text);
    storeEdit(session, interactionId, text === prompt.text ? null : text);
  };

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (edited === null) {
      return;
    }
    // Its turn may begin with these very words before the answer comes.
    storeEdit(session, interactionId, null);
    const answer = await http.changePrompt(session, interactionId, edited);
    setFailure(answer.ok ? null : answer.failure);
    // What was typed since is kept already.
    const since = readEdit(session, interactionId);
    if (answer.ok && since === null) {
      setEdited(null);
    } else if (!answer.ok) {
      storeEdit(session, interactionId, since ?? edited);
    }
  };
  const remove = async () => {
    const answer = await http.removePrompt(session, interactionId);
    setFailure(answer.ok ? null : answer.failure);
  };

  const author = authorWords(prompt.by);
  return (
    <section aria-label="Waiting prompt" className="thread-row pb-6">
      <span aria-hidden="true" className="thread-line thread-line-ahead" />
      <span className="absolute top-[calc(var(--knot-y)-7px)] left-0">
        <Knot shape="ahead" />
      </span>
      <p className="text-sm leading-[1.6rem] text-soft">{signedOut ? "Waits until you have signed in" : "Waiting its turn"}{author !== null && ` · ${author}`}</p>
      {edited === null ? (
        <div className="flex items-start justify-between gap-4">
          <div className="min-w-0">
            <PromptText text={prompt.text} turn={null} />
            {prompt.images !== undefined && prompt.images.length > 0 && (
              <ItemsSessionContext value={session}>
                <Pictures images={prompt.images} />
              </ItemsSessionContext>
            )}
          </div>
          <div className="-mt-2 -mr-3 flex">
            <IconButton
              label="Change the waiting prompt"
              onClick={() => {
                setBegun(true);
                edit(prompt.text);
              }}
            >
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
            autoFocus={begun}
            onFocus={({ target }) => {
              target.setSelectionRange(target.value.length, target.value.length);
            }}
            onChange={(event) => edit(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                edit(null);
              }
            }}
          />
          <div className="flex gap-2">
            <Button type="submit" disabled={edited.trim() === "" && (prompt.images ?? []).length === 0}>
              Save
            </Button>
            <Button look="quiet" onClick={() => edit(null)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
      {failure !== null && <Alert className="mt-2">{failureWords(failure)}</Alert>}
    </section>
  );
}
