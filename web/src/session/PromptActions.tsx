// What can be done with a prompt in the transcript: take its words along, and change and send the newest again.
//
// Beside a mouse they show where the pointer or the focus is; on a touch screen always.
import { use } from "react";

import { IconButton } from "../ui/Button";
import { CopyIconButton } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";
import type { EarlierPrompt } from "./ComposeContext";
import { ComposeContext } from "./ComposeContext";

interface PromptActionsProps {
  prompt: EarlierPrompt;
  /** No prompt of the person came after it. */
  newest: boolean;
}

const SIZE = "pointer-fine:size-7! pointer-fine:rounded-md! [&>svg]:size-4.5";

export function PromptActions({ prompt, newest }: PromptActionsProps) {
  const compose = use(ComposeContext);
  return (
    <div className="-mr-1.5 flex transition-opacity pointer-coarse:-mr-3 group-hover/turn:opacity-100 focus-within:opacity-100 [@media(hover:hover)]:opacity-0">
      {newest && compose !== null && (
        <IconButton label="Edit and send again" className={SIZE} onClick={() => compose.edit(prompt)}>
          <Icon name="pencil" />
        </IconButton>
      )}
      {prompt.text !== "" && <CopyIconButton text={prompt.text} what="the prompt" className={SIZE} />}
    </div>
  );
}
