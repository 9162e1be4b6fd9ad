// What can be done with a prompt in the transcript: take its words along, and change and send the newest again.
//
// Beside a mouse they show where the pointer or the focus is; on a touch screen always.
import { memo, use, useId, useRef, useState } from "react";

import { Anchored } from "../../ui/Anchored";
import { IconButton } from "../../ui/Button";
import { CopyIconButton, CopyRow } from "../../ui/CopyButton";
import { Icon } from "../../ui/Icon";
import { turnAddress } from "../../ui/place";
import type { SessionId } from "../../wire/names";
import type { EarlierPrompt } from "../composer/ComposeContext";
import { ComposeContext } from "../composer/ComposeContext";

interface PromptActionsProps {
  turn: number;
  /** The session that it is of, if that is not the open one. */
  past: SessionId | null;
  text: EarlierPrompt["text"];
  images: EarlierPrompt["images"];
  /** No prompt of the person came after it. */
  newest: boolean;
}

const SIZE = "pointer-fine:size-7! pointer-fine:rounded-md! [&>svg]:size-4.5";

/** Apart, so that a turn that grows does not draw them anew with every word. */
export const PromptActions = memo(function PromptActions({ turn, past, text, images, newest }: PromptActionsProps) {
  const compose = use(ComposeContext);
  return (
    <div className="-mr-1.5 flex transition-opacity pointer-coarse:-mr-3 group-hover/turn:opacity-100 focus-within:opacity-100 [@media(hover:hover)]:opacity-0">
      {newest && compose !== null && (
        <IconButton label="Edit and send again" className={SIZE} onClick={() => compose.edit({ text, images })}>
          <Icon name="pencil" />
        </IconButton>
      )}
      {text !== "" && <CopyIconButton text={text} what="the prompt" className={SIZE} />}
      <span className="flex pointer-coarse:hidden">
        <CopyIconButton text={turnAddress(turn, past)} what={`the link to turn ${turn}`} icon="link" className={SIZE} />
      </span>
      <span className="flex pointer-fine:hidden">
        <TurnMenu turn={turn} past={past} />
      </span>
    </div>
  );
});

/** Where there is no room for every button, as under a finger. */
function TurnMenu({ turn, past }: { turn: number; past: SessionId | null }) {
  const anchor = useRef<HTMLSpanElement>(null);
  const [open, setOpen] = useState(false);
  const id = useId();
  const close = () => setOpen(false);
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
      <IconButton label={`More of turn ${turn}`} aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}>
        <Icon name="more" />
      </IconButton>
      {open && (
        <Anchored id={id} anchor={anchor} side="end" label={`More of turn ${turn}`} onPressElsewhere={close}>
          <CopyRow text={turnAddress(turn, past)} words="Copy the link to this turn" icon="link" />
        </Anchored>
      )}
    </span>
  );
}
