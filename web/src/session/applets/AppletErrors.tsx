// What went wrong in an applet: one quiet line, and behind it each error, with a way to have the agent look at it.
import { use, useState } from "react";

import { counted } from "../../ui/counted";
import { shown } from "../../ui/shown";
import { ComposeContext } from "../composer/ComposeContext";
import type { AppletFailure } from "./appletHost";

interface AppletErrorsProps {
  title: string;
  /** Its slug, or null where nobody saved it. */
  slug: string | null;
  errors: readonly AppletFailure[];
}

/** Of each; the rest says nothing new. */
const MOST_CHARACTERS = 1_500;

export function AppletErrors({ title, slug, errors }: AppletErrorsProps) {
  const [open, setOpen] = useState(false);
  const compose = use(ComposeContext);
  if (errors.length === 0) {
    return null;
  }
  return (
    <div className="border-b border-rule px-4 py-1 text-[0.8125rem]">
      <div className="flex items-center gap-4">
        <button type="button" className="small-button mx-0! px-0!" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className="text-failed">{counted(errors.length, "error")}</span>
        </button>
        {compose !== null && (
          <button type="button" className="small-button" title="Puts it into the prompt; you send it" onClick={() => compose.add(promptOf(title, slug, errors))}>
            Send to agent
          </button>
        )}
      </div>
      {open && (
        <ul tabIndex={0} aria-label="Errors of the applet" className="max-h-48 space-y-2 overflow-y-auto pb-2 font-mono text-xs">
          {errors.map(({ message, stack }, index) => (
            <li key={index} className="verbatim">
              {!stack.includes(message) && shown(message)}
              {stack !== "" && <div className={stack.includes(message) ? "verbatim" : "verbatim text-soft"}>{shown(stack)}</div>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function promptOf(title: string, slug: string | null, errors: readonly AppletFailure[]): string {
  const which = slug === null ? `The applet “${title}”` : `The applet “${title}” (${slug})`;
  const each = [...new Set(errors.map(({ message, stack }) => (stack.includes(message) ? stack : [message, stack].filter((part) => part !== "").join("\n")).slice(0, MOST_CHARACTERS)))];
  return `${which} reports ${counted(errors.length, "error")}:\n\n${each.map((text) => `\`\`\`\n${text}\n\`\`\``).join("\n\n")}`;
}
