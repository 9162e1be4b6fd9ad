// What can be done with a prompt in the transcript: take its words along, send it again otherwise, here or in a fork, and go
// on from its turn in a session of its own.
//
// Beside a mouse they show where the pointer or the focus is; on a touch screen always.
import { memo, use, useId, useRef, useState } from "react";

import { AppContext } from "../../app/AppContext";
import { Anchored } from "../../ui/Anchored";
import { IconButton } from "../../ui/Button";
import { CopyIconButton, CopyRow } from "../../ui/CopyButton";
import { Icon } from "../../ui/Icon";
import { MenuRow } from "../../ui/MenuRow";
import { turnAddress } from "../../ui/place";
import type { Image, SessionId } from "../../wire/names";
import type { EarlierPrompt } from "../composer/ComposeContext";
import { ComposeContext } from "../composer/ComposeContext";
import { ForkContext } from "../forking/ForkContext";
import { ItemsSessionContext } from "../items/ItemsSessionContext";
import { wholeImages } from "../items/wholeImages";

interface PromptActionsProps {
  turn: number;
  /** The session that it is of, if that is not the open one. */
  past: SessionId | null;
  text: EarlierPrompt["text"];
  images: EarlierPrompt["images"];
  /** No prompt of the person came after it. */
  newest: boolean;
  /** The turn has not ended. */
  running: boolean;
}

const SIZE = "pointer-fine:size-7! pointer-fine:rounded-md! [&>svg]:size-4.5";

/** Apart, so that a turn that grows does not draw them anew with every word. */
export const PromptActions = memo(function PromptActions({ turn, past, text, images, newest, running }: PromptActionsProps) {
  const compose = use(ComposeContext);
  const fork = use(ForkContext);
  const app = use(AppContext);
  const session = use(ItemsSessionContext);
  const [lost, setLost] = useState(false);
  /** Pictures that are kept beside the log are read first. */
  const withImages = async (then: (images: readonly Image[]) => void) => {
    if (app === null || images.every(({ body }) => body === undefined || body === null)) {
      then(images);
      return;
    }
    const answer = await wholeImages(app.http, session, images);
    setLost(!answer.ok);
    if (answer.ok) {
      then(answer.value);
    }
  };
  const editInFork = fork === null ? null : () => void withImages((images) => fork({ after: turn - 1, edits: turn, text, images }));
  const forkFrom = fork === null || running ? null : () => fork({ after: turn, edits: null, text: "", images: [] });
  return (
    <div className="-mr-1.5 flex transition-opacity pointer-coarse:-mr-3 group-hover/turn:opacity-100 focus-within:opacity-100 [@media(hover:hover)]:opacity-0">
      {lost && (
        <span role="alert" className="text-[0.8125rem] text-soft">
          Its pictures cannot be read.
        </span>
      )}
      {newest && compose !== null && (
        <IconButton label="Edit and send again" className={SIZE} onClick={() => void withImages((images) => compose.edit({ text, images }))}>
          <Icon name="pencil" />
        </IconButton>
      )}
      {!newest && editInFork !== null && (
        <span className="flex pointer-coarse:hidden">
          <IconButton label="Edit and send in a fork" className={SIZE} onClick={editInFork}>
            <Icon name="pencil" />
          </IconButton>
        </span>
      )}
      {text !== "" && <CopyIconButton text={text} what="the prompt" className={SIZE} />}
      <span className="flex pointer-coarse:hidden">
        <CopyIconButton text={turnAddress(turn, past)} what={`the link to turn ${turn}`} icon="link" className={SIZE} />
      </span>
      {forkFrom !== null && (
        <span className="flex pointer-coarse:hidden">
          <IconButton label={`Fork from turn ${turn}`} className={SIZE} onClick={forkFrom}>
            <Icon name="fork" />
          </IconButton>
        </span>
      )}
      {/* The newest prompt's pencil is for the composer; the fork is in the menu. */}
      <span className={`flex ${newest && editInFork !== null ? "" : "pointer-fine:hidden"}`}>
        <TurnMenu turn={turn} past={past} onEditInFork={editInFork} onFork={forkFrom} />
      </span>
    </div>
  );
});

/** Where there is no room for every button, as under a finger. */
interface TurnMenuProps {
  turn: number;
  past: SessionId | null;
  onEditInFork: (() => void) | null;
  onFork: (() => void) | null;
}

function TurnMenu({ turn, past, onEditInFork, onFork }: TurnMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const [open, setOpen] = useState(false);
  const id = useId();
  const close = () => setOpen(false);
  const then = (act: () => void) => () => {
    close();
    act();
  };
  return (
    <span
      ref={anchor}
      className="flex"
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.stopPropagation();
          close();
        }
      }}
    >
      <IconButton label={`More of turn ${turn}`} className={SIZE} aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}>
        <Icon name="more" />
      </IconButton>
      {open && (
        <Anchored id={id} anchor={anchor} side="end" label={`More of turn ${turn}`} onPressElsewhere={close}>
          {onEditInFork !== null && (
            <MenuRow icon="pencil" onClick={then(onEditInFork)}>
              Edit and send in a fork
            </MenuRow>
          )}
          {onFork !== null && (
            <MenuRow icon="fork" onClick={then(onFork)}>
              Fork from here
            </MenuRow>
          )}
          <CopyRow text={turnAddress(turn, past)} words="Copy the link to this turn" icon="link" />
        </Anchored>
      )}
    </span>
  );
}
