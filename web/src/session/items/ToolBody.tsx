// What a call was given and what it shows, by the kind of its content.
import { memo, useMemo } from "react";

import { isLongChange, pictureBody, textBodies } from "../../state/bodies";
import type { ToolCall } from "../../state/transcript";
import { Exact } from "../../ui/Exact";
import { useShownPath } from "../../ui/paths";
import { inOneLine, shown } from "../../ui/shown";
import type { BodyRef, Location, ToolContent } from "../../wire/names";
import { DiffView } from "./DiffView";
import { KeyValues } from "./KeyValues";
import { lineDiff } from "./lineDiff";
import type { Folding } from "./Output";
import { Output } from "./Output";
import { Picture } from "./Pictures";
import type { FoldingOf } from "./WholeCall";
import { WholeCall } from "./WholeCall";
import "./exactText.css";

/** The very command that a call runs, where it runs one. */
export function commandOf(call: ToolCall): string | null {
  const terminal = call.content.find((content) => content.type === "terminal");
  if (terminal !== undefined) {
    return terminal.command;
  }
  const given = call.kind === "execute" && isRecord(call.input) ? call.input["command"] : null;
  if (Array.isArray(given) && given.every((word) => typeof word === "string")) {
    return given.join(" ");
  }
  return typeof given === "string" ? given : null;
}

/** What the agent says it is about to do, where the call's title is only the name of the tool by which it says so. */
export function intentOf({ title, name, input }: ToolCall): string | null {
  if (((title || name) ?? "").trim() !== "report_intent" || !isRecord(input)) {
    return null;
  }
  const given = isRecord(input["arguments"]) ? input["arguments"] : input;
  return typeof given["intent"] === "string" ? given["intent"] : null;
}

export function exitCodeOf(call: ToolCall): number | null {
  return call.content.find((content) => content.type === "terminal")?.exitCode ?? null;
}

export function hasBody(call: ToolCall): boolean {
  return call.content.length > 0 || call.locations.length > 0 || saysMore(call.input) || saysMore(call.output) || commandOf(call) !== null;
}

interface ToolBodyProps {
  call: ToolCall;
  /** The line above it, as it is shown: what that says is not said again. */
  title: string;
  /** The title is the command, whole. */
  commandInTitle: boolean;
}

export const ToolBody = memo(function ToolBody({ call, ...rest }: ToolBodyProps) {
  return textBodies(call).length > 0 ? (
    <WholeCall call={call} isDrawn={isDrawn}>
      {(shown, foldingOf) => <BodyOfCall call={shown} foldingOf={foldingOf} {...rest} />}
    </WholeCall>
  ) : (
    <BodyOfCall call={call} foldingOf={foldedByItself} {...rest} />
  );
});

function foldedByItself(): Folding {
  return "own";
}

/** Many agents give what a call shows once more as its output, and what a change or a command is as its input. */
function isDrawn({ content }: ToolCall, { of }: BodyRef): boolean {
  return of === "output" ? content.length === 0 : of !== "input" || !content.some(({ type }) => type === "diff" || type === "terminal");
}

const BodyOfCall = memo(function BodyOfCall({ call, title, commandInTitle, foldingOf }: ToolBodyProps & { foldingOf: FoldingOf }) {
  const shownPath = useShownPath();
  const command = commandOf(call);
  const diffs = call.content.some(({ type }) => type === "diff");
  // What a command or a change was given is in the command and the change already.
  const input = command === null && !diffs && saysMore(call.input) ? call.input : null;
  const output = call.content.length === 0 && saysMore(call.output) ? call.output : null;
  // The line has the first one's own line, too.
  const places = diffs ? [] : call.locations.filter(({ path }, index) => index > 0 || !title.includes(inOneLine(shownPath(path))));
  return (
    <div className="space-y-2">
      {places.length > 0 && <Places places={places} />}
      {input !== null && <KeyValues label="Input" value={input} folding={foldingOf("input", 0)} />}
      {command !== null && !commandInTitle && (
        <pre className="command" dir="ltr">
          <span aria-hidden="true" className="text-edge select-none">
            ${" "}
          </span>
          <Exact text={command} />
        </pre>
      )}
      {call.content.map((content, index) => (
        <CallContent key={index} call={call} item={index} content={content} title={title} folding={foldingOf("shown", index)} />
      ))}
      {output !== null && <KeyValues label="Output" value={output} folding={foldingOf("output", 0)} />}
      {call.status === "running" && call.content.length === 0 && <p className="text-sm text-soft">Nothing to show yet.</p>}
    </div>
  );
});

/** More are only counted. */
const MOST_PLACES = 100;

export function Places({ places }: { places: readonly Location[] }) {
  const shownPath = useShownPath();
  return (
    <ul aria-label="Files" className="space-y-0.5">
      {places.slice(0, MOST_PLACES).map(({ path, line }, index) => (
        <li key={index} className="verbatim font-mono text-[0.8125rem] text-soft">
          {shown(shownPath(path))}
          {line ? `:${line}` : ""}
        </li>
      ))}
      {places.length > MOST_PLACES && <li className="text-[0.8125rem] text-soft">and {(places.length - MOST_PLACES).toLocaleString("en")} more</li>}
    </ul>
  );
}

interface CallContentProps {
  call: ToolCall;
  /** Which of the things that the call shows. */
  item?: number;
  content: ToolContent;
  /** The line above it, where there is one. */
  title?: string;
  folding?: Folding;
}

export const CallContent = memo(function CallContent({ call, item = -1, content, title = "", folding = "own" }: CallContentProps) {
  switch (content.type) {
    case "text":
      return content.text.trim() === "" ? null : <Output text={withoutFence(content.text)} label="What it gave" head={call.kind !== "execute"} folding={folding} />;
    case "terminal":
      return content.output.trim() === "" ? (
        <p className="text-sm text-soft">{call.status === "running" ? "Nothing printed yet." : "Nothing printed."}</p>
      ) : (
        <Output text={content.output} label="What the command printed" folding={folding} />
      );
    case "diff":
      return isLongChange(call, item) ? <LongChange path={content.path} /> : <Change path={content.path} title={title} before={content.oldText ?? null} after={content.newText} unfolded={folding === "unfolded"} />;
    case "image":
      return <Picture image={{ ...content, body: pictureBody(call, item) }} name="Picture from the tool" />;
    case "link":
      return (
        <p className="verbatim text-[0.9375rem]">
          {shown(content.name)} <span className="font-mono text-[0.8125rem] text-soft">{shown(content.uri)}</span>
        </p>
      );
    case "omitted":
      return <p className="text-sm text-soft">{content.bytes.toLocaleString("en")} bytes more than is kept.</p>;
    case "raw":
      return <KeyValues label="Raw" value={content.value} folding={folding} />;
  }
});

/** The beginnings of two texts say nothing of what changed. */
function LongChange({ path }: { path: string }) {
  return <p className="verbatim text-[0.9375rem] text-soft">A long change of {shown(useShownPath()(path))}</p>;
}

interface ChangeProps {
  path: string;
  title: string;
  before: string | null;
  after: string;
  unfolded: boolean;
}

function Change({ path, title, before, after, unfolded }: ChangeProps) {
  const diff = useMemo(() => lineDiff(before ?? "", after), [before, after]);
  const name = useShownPath()(path);
  return <DiffView path={name} named={title.includes(inOneLine(name))} diff={diff} isNew={before === null} unfolded={unfolded} />;
}

/**
 * Many agents put what a tool gave into a fence of Markdown; the fence says nothing. Only the ends are looked at: a
 * pattern over the whole would try a long text from every sign of it anew.
 */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  const newline = trimmed.indexOf("\n");
  const opening = newline < 0 ? "" : trimmed.slice(0, newline);
  const mark = /^`{3,}/.exec(opening)?.[0] ?? "";
  if (mark === "" || opening.includes("`", mark.length) || !trimmed.endsWith(mark) || trimmed.length - mark.length <= newline) {
    return text;
  }
  const inner = trimmed.slice(newline + 1, trimmed.length - mark.length);
  // Another fence within it, or a longer end, is not its end.
  return inner.includes(mark) || inner.endsWith("`") ? text : inner.replace(/\n$/, "");
}

function saysMore(value: unknown): boolean {
  return value !== null && value !== undefined && !(isRecord(value) && Object.keys(value).length === 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
