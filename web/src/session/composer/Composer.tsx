// Where prompts are written. One composer belongs to one session for its whole life: its draft is that session's.
//
// Invariant: words are kept in this browser, in the field, put aside or in the outbox, until the server has said that it keeps
// them. The field can be written in at any time. What is in it is on the person's other devices, too (`useUnsent.ts`).
import type { FormEvent, ReactNode, Ref, RefObject } from "react";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";

import type { Failure } from "../../api/http";
import { failureWords } from "../../api/http";
import type { TranscriptTurn } from "../../state/transcript";
import { Alert } from "../../ui/Alert";
import { IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Knot } from "../../ui/Knot";
import { inOneLine } from "../../ui/shown";
import type { AgentCommand, QueuedPrompt, SessionId } from "../../wire/names";
import { AsideRow } from "./AsideRow";
import { readAside, storeAside } from "./aside";
import type { Compose } from "./ComposeContext";
import { ComposerField } from "./ComposerField";
import { unknownCommand } from "../blocks/unknownCommand";
import { newDraft, readDraft, storeDraft } from "./drafts";
import { OutboxRow } from "./OutboxRow";
import type { Outgoing, Picture } from "./outbox";
import { forgetOutgoing, readOutbox } from "./outbox";
import { addPictures, PICTURE_TYPES } from "./pictures";
import { PictureStrip } from "./PictureStrip";
import { onEdit, takeOrphans } from "./queuedEdits";
import { StopButton } from "./StopButton";
import { useFileDrop } from "./useFileDrop";
import { useOutbox } from "./useOutbox";
import { useUnsent } from "./useUnsent";

interface ComposerProps {
  session: SessionId;
  agent: string;
  running: boolean;
  online: boolean;
  /** The connection has been lost for so long that it is worth a word. */
  lost?: boolean;
  /** The session was begun just now: its first words come next, whatever had the focus, and on a touch screen, too. */
  begun?: boolean;
  /** A step led here from the session above, and what had the focus there is gone. */
  goneOn?: boolean;
  /** The agent asks something: a key that is pressed is the answer, not a letter. */
  asked?: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
  /** What the agent understands after a slash. */
  commands?: readonly AgentCommand[];
  /** For the prompts that can be recalled. */
  turns?: readonly TranscriptTurn[];
  /** Has the turns before those read, if there are any. */
  readEarlier?: (() => void) | null;
  /** The prompts that wait; null while that is not known. */
  waiting?: readonly QueuedPrompt[] | null;
  /** What stands in the foot: the agent's options. */
  children?: ReactNode;
  ref?: Ref<Compose>;
  onSent(): void;
}

const NO_COMMANDS: readonly AgentCommand[] = [];
const NO_TURNS: readonly TranscriptTurn[] = [];
const TOO_LATE = "The waiting prompt was sent before your change was saved. What you typed is here.";
const TORN = "The page was loaded anew before this prompt was sent, and its pictures are gone. Add them again.";

export function Composer({
  session,
  agent,
  running,
  online,
  lost = false,
  begun = false,
  goneOn = false,
  asked = false,
  field,
  commands = NO_COMMANDS,
  turns = NO_TURNS,
  readEarlier = null,
  waiting = null,
  children,
  ref,
  onSent,
}: ComposerProps) {
  const [torn] = useState(() => readOutbox(session).torn);
  const [draft, setDraft] = useState(() => (torn.length === 0 ? readDraft(session) : newDraft(joined([...torn.map(({ text }) => text), readDraft(session).text]))));
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const [objection, setObjection] = useState<string | null>(torn.length === 0 ? null : TORN);
  const [aside, setAside] = useState(() => readAside(session));
  const picker = useRef<HTMLInputElement>(null);
  // A picture says something without words, too.
  const isBlank = draft.text.trim() === "" && pictures.length === 0;
  const unknown = unknownCommand(draft.text, commands);

  useEffect(() => {
    storeDraft(session, draft);
  }, [session, draft]);
  useEffect(() => {
    storeAside(session, aside);
  }, [session, aside]);
  useEffect(() => {
    torn.forEach(({ key }) => forgetOutgoing(session, key));
  }, [session, torn]);

  useEffect(() => {
    if (waiting === null) {
      return undefined;
    }
    const look = () => {
      const orphans = takeOrphans(session, waiting.map(({ interactionId }) => interactionId));
      if (orphans.length > 0) {
        setDraft((since) => newDraft(joined([since.text, ...orphans])));
        setObjection(TOO_LATE);
        // What was typed into is gone; whoever goes on typing means these words.
        requestAnimationFrame(() => {
          if (document.activeElement === document.body) {
            field.current?.focus();
            field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
          }
        });
      }
    };
    look();
    return onEdit(look);
  }, [session, waiting, field]);

  /** Puts back what was not sent, before what has been written since. */
  const giveBack = (returned: readonly Outgoing[]) => {
    const only = returned.length === 1 ? returned[0] : undefined;
    setDraft((since) =>
      since.text.trim() === "" && only !== undefined
        ? { text: only.text, key: only.key }
        : newDraft(joined([...returned.map(({ text }) => text), since.text])),
    );
    setPictures((since) => [...returned.flatMap((outgoing) => outgoing.pictures), ...since]);
  };
  const outbox = useOutbox({
    session,
    online,
    onSent,
    onRefused(returned: readonly Outgoing[], failure: Failure) {
      giveBack(returned);
      setObjection(failureWords(failure));
    },
  });

  const write = (text: string) => {
    setDraft(newDraft(text));
  };
  useUnsent({ session, online, text: draft.text, onWritten: write });
  /** The field holds what was put aside, or nothing. */
  const takeUpAside = () => {
    setDraft(newDraft(aside?.text ?? ""));
    setPictures(aside?.pictures ?? []);
    setAside(null);
  };
  const send = () => {
    setObjection(null);
    if (isBlank) {
      return;
    }
    takeUpAside();
    outbox.put({ text: draft.text, key: draft.key, pictures });
    field.current?.focus();
  };
  const add = async (files: readonly File[]) => {
    const added = await addPictures(pictures, files);
    // Others may have been added meanwhile.
    const fresh = added.pictures.slice(pictures.length);
    setPictures((since) => [...since, ...fresh]);
    // Another picture makes another prompt.
    setDraft((since) => newDraft(since.text));
    setObjection(added.refusal);
  };
  const remove = (id: string) => {
    setPictures((since) => since.filter((picture) => picture.id !== id));
    setDraft((since) => newDraft(since.text));
    setObjection(null);
    field.current?.focus();
  };
  const dropping = useFileDrop((files) => void add(files));

  useImperativeHandle(ref, () => ({
    add(text) {
      setDraft((since) => newDraft(joined([since.text.trimEnd(), text])));
      setObjection(null);
    },
    edit({ text, images }) {
      const isSame = draft.text === text && pictures.map(({ data }) => data).join() === images.map(({ data }) => data).join();
      if (!isBlank && !isSame) {
        setAside({ text: joined([draft.text, aside?.text ?? ""]), pictures: [...pictures, ...(aside?.pictures ?? [])] });
      }
      setDraft(newDraft(text));
      setPictures(images.map(({ mimeType, data }) => ({ id: crypto.randomUUID(), name: "", mimeType, data })));
      setObjection(null);
      requestAnimationFrame(() => {
        field.current?.focus();
        field.current?.setSelectionRange(text.length, text.length);
      });
    },
  }));

  // Where nothing else has the focus, writing is what comes next; on a touch screen that raises the keyboard, which only a
  // new session is worth. With the drawing itself: what is typed as soon as it is seen is meant for it.
  useLayoutEffect(() => {
    const free = goneOn || (document.activeElement === document.body && !asked);
    if (begun || (free && matchMedia("(pointer: fine)").matches)) {
      field.current?.focus();
    }
    // Only on opening.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [session, field]);

  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        send();
      }}
      className="thread-row pb-1 last:safe-bottom"
    >
      <span aria-hidden="true" className="thread-line thread-line-ahead bottom-auto h-7" />
      <span className="absolute top-[calc(1.75rem-7px)] left-0">
        <Knot shape="ahead" />
      </span>
      {outbox.trouble !== "none" && (
        <OutboxRow waiting={outbox.waiting} held={outbox.trouble === "held"} onTakeBack={() => giveBack(outbox.takeBack())} />
      )}
      {aside !== null && (
        <AsideRow
          aside={aside}
          onGiveBack={() => {
            takeUpAside();
            setObjection(null);
            field.current?.focus();
          }}
        />
      )}
      {objection !== null && <Alert className="mt-1 mb-2">{objection}</Alert>}
      <p role="status" className={`text-[0.8125rem] text-soft ${unknown === null ? "" : "mb-1.5"}`}>
        {unknown !== null && (
          <>
            {agent} lists no command <code>/{inOneLine(unknown)}</code>; it may take this as plain text.
          </>
        )}
      </p>
      <p role="status" className={`text-[0.8125rem] text-failed ${lost ? "mb-1.5" : ""}`}>
        {lost && "Not connected. What you send is kept in this browser and goes out when the server is back."}
      </p>
      <div
        className={`@container relative rounded-2xl border bg-paper p-1.5 has-[textarea:focus]:outline-2 has-[textarea:focus]:outline-focus ${dropping ? "border-focus outline-2 outline-focus" : lost ? "border-dashed border-failed" : "border-edge"}`}
      >
        {pictures.length > 0 && <PictureStrip pictures={pictures} onRemove={remove} />}
        <ComposerField
          session={session}
          agent={agent}
          field={field}
          text={draft.text}
          placeholder={dropping ? "Drop pictures here" : running ? "Write the next prompt" : `Write to ${agent}`}
          commands={commands}
          turns={turns}
          readEarlier={readEarlier}
          onWrite={write}
          onSend={send}
          onPictures={(files) => void add(files)}
        />
        <div className="flex items-center gap-1">
          <input
            ref={picker}
            type="file"
            hidden
            multiple
            accept={PICTURE_TYPES.join(",")}
            aria-label="Pictures to add"
            onChange={(event) => {
              void add([...(event.target.files ?? [])]);
              // The same file can be chosen again after it was removed.
              event.target.value = "";
            }}
          />
          <IconButton label="Add pictures" onClick={() => picker.current?.click()}>
            <Icon name="picture" />
          </IconButton>
          <div className="flex min-w-0 flex-1 items-center gap-1">{children}</div>
          {running && <StopButton session={session} className="md:hidden" />}
          <IconButton
            type="submit"
            label={running ? "Send when this turn ends" : "Send"}
            disabled={isBlank}
            className="rounded-xl! not-disabled:bg-ink not-disabled:text-paper not-disabled:hover:bg-ink not-disabled:hover:text-paper not-disabled:hover:opacity-85"
          >
            <Icon name="send" />
          </IconButton>
        </div>
      </div>
    </form>
  );
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}
