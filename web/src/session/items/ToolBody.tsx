// What a call was given and what it shows, by the kind of its content.
import { memo, useMemo } from "react";

import type { ToolCall } from "../../state/transcript";
import { Exact } from "../../ui/Exact";
import { useShownPath } from "../../ui/paths";
import { inOneLine, shown } from "../../ui/shown";
import type { Location, ToolContent } from "../../wire/names";
import { DiffView } from "./DiffView";
import { KeyValues } from "./KeyValues";
import { lineDiff } from "./lineDiff";
import { Output } from "./Output";
import { Picture } from "./Pictures";
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

export const ToolBody = memo(function ToolBody({ call, title, commandInTitle }: ToolBodyProps) {
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
      {input !== null && <KeyValues label="Input" value={input} />}
      {command !== null && !commandInTitle && (
        <pre className="command" dir="ltr">
          <span aria-hidden="true" className="text-edge select-none">
            ${" "}
          </span>
          <Exact text={command} />
        </pre>
      )}
      {call.content.map((content, index) => (
        <CallContent key={index} call={call} content={content} title={title} />
      ))}
      {output !== null && <KeyValues label="Output" value={output} />}
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
  content: ToolContent;
  /** The line above it, where there is one. */
  title?: string;
}

export const CallContent = memo(function CallContent({ call, content, title = "" }: CallContentProps) {
  switch (content.type) {
    case "text":
      return content.text.trim() === "" ? null : <Output text={withoutFence(content.text)} label="What it gave" head={call.kind !== "execute"} />;
    case "terminal":
      return content.output.trim() === "" ? (
        <p className="text-sm text-soft">{call.status === "running" ? "Nothing printed yet." : "Nothing printed."}</p>
      ) : (
        <Output text={content.output} label="What the command printed" />
      );
    case "diff":
      return <Change path={content.path} title={title} before={content.oldText ?? null} after={content.newText} />;
    case "image":
      return <Picture image={content} name="Picture from the tool" />;
    case "link":
      return (
        <p className="verbatim text-[0.9375rem]">
          {shown(content.name)} <span className="font-mono text-[0.8125rem] text-soft">{shown(content.uri)}</span>
        </p>
      );
    case "omitted":
      return <p className="text-sm text-soft">{content.bytes.toLocaleString("en")} bytes more than is kept.</p>;
    case "raw":
      return <KeyValues label="Raw" value={content.value} />;
  }
});

function Change({ path, title, before, after }: { path: string; title: string; before: string | null; after: string }) {
  const diff = useMemo(() => lineDiff(before ?? "", after), [before, after]);
  const name = useShownPath()(path);
  return <DiffView path={name} named={title.includes(inOneLine(name))} diff={diff} isNew={before === null} />;
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
