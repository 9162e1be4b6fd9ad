// Where prompts are written. One composer belongs to one session for its whole life: its draft is that session's.
//
// Invariant: words leave the composer only when the server has said that it keeps them.
import type { FormEvent, KeyboardEvent, RefObject } from "react";
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";

import type { Failure, Http } from "../api/http";
import { failureWords } from "../api/http";
import { Alert } from "../ui/Alert";
import { IconButton } from "../ui/Button";
import { Icon, StopIcon } from "../ui/Icon";
import { Knot } from "../ui/Knot";
import type { SessionId } from "../wire/names";
import { newDraft, readDraft, storeDraft } from "./drafts";

/** How long to wait where the connection seems to be up and yet no answer came. */
const RESEND_AFTER_MS = 1_500;

type Sending =
  | { kind: "none" }
  | { kind: "on_its_way" }
  /** No answer came; it goes out again by itself, at once when a lost connection is back, else after a while. */
  | { kind: "held"; afterMs: number }
  | { kind: "refused"; failure: Failure };

interface ComposerProps {
  http: Http;
  session: SessionId;
  agent: string;
  running: boolean;
  online: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
  onSent(): void;
}

export function Composer({ http, session, agent, running, online, field, onSent }: ComposerProps) {
  const [draft, setDraft] = useState(() => readDraft(session));
  const [sending, setSending] = useState<Sending>({ kind: "none" });
  const [stopFailure, setStopFailure] = useState<Failure | null>(null);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);

  useLayoutEffect(() => {
    fitHeight(field.current);
  }, [draft.text, field]);

  const write = (text: string) => {
    const changed = newDraft(text);
    setDraft(changed);
    setSending({ kind: "none" });
    storeDraft(session, changed);
  };

  const send = async () => {
    if (draft.text.trim() === "" || sending.kind === "on_its_way") {
      return;
    }
    storeDraft(session, draft);
    setSending({ kind: "on_its_way" });
    const answer = await http.sendPrompt(session, { text: draft.text, whenBusy: "queue", key: draft.key });
    if (answer.ok && readDraft(session).key === draft.key) {
      storeDraft(session, newDraft(""));
    }
    if (!alive.current) {
      return;
    }
    if (answer.ok) {
      setDraft(newDraft(""));
      setSending({ kind: "none" });
      onSent();
    } else {
      const { failure } = answer;
      setSending(failure.kind === "unreachable" ? { kind: "held", afterMs: online ? RESEND_AFTER_MS : 0 } : { kind: "refused", failure });
    }
  };

  // Where nothing else has the focus, writing is what comes next; on a touch screen that would raise the keyboard.
  useEffect(() => {
    if (document.activeElement === document.body && matchMedia("(pointer: fine)").matches) {
      field.current?.focus();
    }
  }, [session, field]);

  const resend = useEffectEvent(() => void send());
  const resendAfterMs = sending.kind === "held" && online ? sending.afterMs : null;
  useEffect(() => {
    if (resendAfterMs === null) {
      return;
    }
    const timer = setTimeout(() => {
      resend();
    }, resendAfterMs);
    return () => {
      clearTimeout(timer);
    };
  }, [resendAfterMs]);

  const stop = async () => {
    setStopFailure(null);
    const answer = await http.cancel(session);
    if (!answer.ok && alive.current) {
      setStopFailure(answer.failure);
    }
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "Escape") {
      event.currentTarget.blur();
    }
  };

  return (
    <form onSubmit={submit} className="safe-bottom thread-row">
      <span aria-hidden="true" className="thread-line thread-line-ahead bottom-auto h-7" />
      <span className="absolute top-[calc(1.75rem-7px)] left-0">
        <Knot shape="ahead" />
      </span>
      {sending.kind === "refused" && <Alert className="mb-2">{failureWords(sending.failure)}</Alert>}
      {sending.kind === "held" && (
        <p role="status" className="mb-2 text-sm text-soft">
          Not sent yet: the server did not answer. It goes out as soon as the connection is back.
        </p>
      )}
      {stopFailure !== null && <Alert className="mb-2">{failureWords(stopFailure)}</Alert>}
      <div className="flex items-end gap-1 rounded-2xl border border-edge bg-paper p-1.5 focus-within:outline-2 focus-within:outline-thread">
        <textarea
          ref={field}
          aria-label={`Prompt for ${agent}`}
          className="max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-3 py-2.5 text-base leading-6 outline-none placeholder:text-soft md:min-h-10 md:py-2"
          rows={1}
          dir="auto"
          value={draft.text}
          readOnly={sending.kind === "on_its_way"}
          placeholder={running ? "Write the next prompt" : `Write to ${agent}`}
          enterKeyHint="send"
          onChange={(event) => {
            write(event.target.value);
          }}
          onKeyDown={press}
        />
        {running && (
          <IconButton label="Stop" onClick={() => void stop()}>
            <StopIcon />
          </IconButton>
        )}
        <IconButton
          type="submit"
          label={running ? "Send when this turn ends" : "Send"}
          disabled={draft.text.trim() === "" || sending.kind === "on_its_way"}
          className="rounded-xl! not-disabled:bg-ink not-disabled:text-paper not-disabled:hover:bg-ink not-disabled:hover:text-paper not-disabled:hover:opacity-85"
        >
          <Icon name="send" />
        </IconButton>
      </div>
    </form>
  );
}

/** As high as its words, up to the limit that the style sets. */
function fitHeight(field: HTMLTextAreaElement | null): void {
  if (field) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
  }
}
