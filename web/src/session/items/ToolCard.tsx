// A call of a tool: a bead on the thread, what it does, how it stands, and what came of it.
//
// Invariant: how it stands is told by a shape and a word. What is folded is not drawn.
import { memo, use, useId, useState } from "react";

import type { ToolCall } from "../../state/transcript";
import { kindWords, toolStateWord } from "../../state/words";
import { Chevron } from "../../ui/Fold";
import type { IconName } from "../../ui/Icon";
import { Icon } from "../../ui/Icon";
import type { KnotShape } from "../../ui/Knot";
import { LongText } from "../../ui/LongText";
import { DirectoryContext, lastPath, relativeWords } from "../../ui/paths";
import { inOneLine } from "../../ui/shown";
import type { ToolKind, ToolStatus } from "../../wire/names";
import { Step } from "./Step";
import { commandOf, exitCodeOf, hasBody, intentOf, ToolBody } from "./ToolBody";
import "../../ui/Fold.css";
import "./exactText.css";

interface ToolCardProps {
  call: ToolCall;
  /** What asks for it to be in sight, each time another: it opens then, and the reader may close it again. */
  asked?: object | null;
}

/** A longer title may not fit its line. */
const SHORT_TITLE = 60;

export const ToolCard = memo(function ToolCard({ call, asked = null }: ToolCardProps) {
  // Null until somebody says: then a change and a command stand open, as they are what people check.
  const [wanted, setWanted] = useState<boolean | null>(asked === null ? null : true);
  const [heard, setHeard] = useState(asked);
  if (asked !== heard) {
    setHeard(asked);
    setWanted(asked === null ? wanted : true);
  }
  const id = useId();
  const command = commandOf(call);
  const directory = use(DirectoryContext);
  const said = inOneLine(intentOf(call) ?? "") || inOneLine(call.title) || inOneLine(call.name ?? "") || kindWords(call.kind);
  const isCommand = command !== null && inOneLine(command) === said;
  // A command is exactly what it is.
  const title = isCommand ? said : relativeWords(said, directory);
  const inTitle = isCommand && title.length < SHORT_TITLE;
  const longTitle = !isCommand && title.length >= SHORT_TITLE;
  const body = hasBody(call) || longTitle;
  const open = body && (wanted ?? opensByItself(call));
  const exitCode = exitCodeOf(call);
  const line = (
    <>
      <span className="shrink-0 self-center text-edge [&>svg]:size-4.5">
        <Icon name={ICONS[call.kind]} />
      </span>
      <span className="sr-only">{kindWords(call.kind)}: </span>
      {isCommand ? (
        <span className="min-w-0 truncate font-mono text-[0.875rem]" dir="auto" title={said}>
          {title}
        </span>
      ) : (
        <TitleWords title={title} whole={said} />
      )}
      <Place call={call} title={title} />
      <span className={`ml-auto shrink-0 pl-2 text-[0.8125rem] ${call.status === "failed" ? "font-semibold text-failed" : "text-soft"}`}>
        {toolStateWord(call.status)}
        {exitCode !== null && exitCode !== 0 && ` · exit ${exitCode}`}
      </span>
    </>
  );
  return (
    <Step bead={BEADS[call.status]} tool={call.tool} label={`Step ${call.tool}: ${title}`}>
      {body ? (
        <button
          type="button"
          className="fold-line"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setWanted(!open)}
        >
          <span className="flex min-w-0 flex-1 items-baseline gap-2">{line}</span>
          <Chevron open={open} />
        </button>
      ) : (
        <p className="fold-line">
          <span className="flex min-w-0 flex-1 items-baseline gap-2">{line}</span>
          <span aria-hidden="true" className="w-3 shrink-0" />
        </p>
      )}
      {open && (
        <div id={id} className="mt-1 mb-1.5">
          {longTitle && (
            <LongText text={call.title || (call.name ?? "")} label="The whole title">
              {(words) => <p className="verbatim mb-2 text-[0.875rem]">{words}</p>}
            </LongText>
          )}
          <ToolBody call={call} title={title} commandInTitle={inTitle} />
        </div>
      )}
    </Step>
  );
});

/** Where a path at the end does not fit, its directory gives way: the file's name stays. */
function TitleWords({ title, whole }: { title: string; whole: string }) {
  const path = lastPath(title);
  if (path === null) {
    return (
      <span className="min-w-0 truncate" dir="auto" title={whole}>
        {title}
      </span>
    );
  }
  return (
    <span className="flex min-w-0" title={whole}>
      <span className="min-w-0 truncate whitespace-pre">{path.before}</span>
      <span className="min-w-[3ch] shrink-[9999] truncate">{path.directory}</span>
      <span className="shrink-0 max-w-full truncate">{path.name}</span>
    </span>
  );
}

/** Where it works, if its title does not say. */
function Place({ call, title }: { call: ToolCall; title: string }) {
  const [first, ...others] = call.locations;
  if (first === undefined) {
    return null;
  }
  const name = inOneLine(first.path).split("/").at(-1) ?? "";
  const line = first.line ? `:${first.line}` : "";
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const said = title.includes(name);
  if (said && line === "" && more === "") {
    return null;
  }
  return (
    <span className={`shrink-0 font-mono text-[0.8125rem] text-soft ${said && line !== "" ? "-ml-2" : ""}`} title={inOneLine(first.path)}>
      {said ? "" : name}
      {line}
      {more !== "" && <span className="font-sans">{more}</span>}
    </span>
  );
}

function opensByItself(call: ToolCall): boolean {
  return call.kind === "execute" || call.status === "failed" || call.content.some(({ type }) => type === "diff" || type === "terminal" || type === "image");
}

const BEADS: Record<ToolStatus, KnotShape> = {
  pending: "ahead",
  running: "breathing",
  completed: "solid",
  failed: "crossed",
  cancelled: "cut",
};

const ICONS: Record<ToolKind, IconName> = {
  read: "file",
  edit: "pencil",
  delete: "trash",
  move: "move",
  search: "search",
  execute: "terminal",
  think: "thought",
  fetch: "globe",
  switch_mode: "switch",
  other: "tool",
};
