// What is known of a call that the agent asks about, beside the subject of its question: from whichever message it came.
//
// Invariant: nothing that is known is left out but what the subject says already, letter by letter.
import type { ToolCall } from "../../state/transcript";
import type { Location, ToolContent } from "../../wire/names";

export interface BesidesSubject {
  /** What the tool is given: names with values, or something else; null where the subject says all of it. */
  readonly given: unknown;
  readonly content: readonly ToolContent[];
  readonly locations: readonly Location[];
}

const NOTHING: BesidesSubject = { given: null, content: [], locations: [] };

export function besidesSubject(call: ToolCall | null, subject: string): BesidesSubject {
  if (call === null) {
    return NOTHING;
  }
  // Some agents show what a tool is given, as text, before they say it.
  const streamed = isNothing(call.input) ? call.content.find((content) => membersOfText(content) !== null) : undefined;
  const input = streamed === undefined ? call.input : membersOfText(streamed);
  const content = call.content.filter((one) => one !== streamed && !isShownBy(one, subject));
  const changed = new Set(content.flatMap((one) => (one.type === "diff" ? [one.path] : [])));
  const locations = call.locations.filter(({ path, line }) => !changed.has(path) && !(subject.includes(path) && !line));
  return { given: unsaid(input, subject), content, locations };
}

export function isNothingBeside({ given, content, locations }: BesidesSubject): boolean {
  return given === null && content.length === 0 && locations.length === 0;
}

function unsaid(input: unknown, subject: string): unknown {
  if (isNothing(input)) {
    return null;
  }
  if (!isMembers(input)) {
    return isSaid(input, subject) ? null : input;
  }
  const members = Object.entries(input).filter(([name, value]) => !isSaid(value, subject) && !subject.includes(`${name}: ${JSON.stringify(value)}`));
  return members.length === 0 ? null : Object.fromEntries(members);
}

/** The server writes what goes on behind a line break further in. */
function isSaid(value: unknown, subject: string): boolean {
  if (typeof value === "string") {
    return subject.includes(value) || subject.includes(value.replaceAll("\n", "\n  "));
  }
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string" && subject.includes(word));
}

function isShownBy(content: ToolContent, subject: string): boolean {
  switch (content.type) {
    case "text":
      return content.text.trim() === "" || subject.includes(content.text.trim());
    case "terminal":
      return content.output.trim() === "" && subject.includes(content.command);
    case "diff":
    case "image":
    case "link":
    case "omitted":
    case "raw":
      return false;
  }
}

function membersOfText(content: ToolContent): Record<string, unknown> | null {
  if (content.type !== "text" || !content.text.trimStart().startsWith("{")) {
    return null;
  }
  try {
    const value: unknown = JSON.parse(content.text);
    return isMembers(value) && Object.keys(value).length > 0 ? value : null;
  } catch {
    return null;
  }
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || (isMembers(value) && Object.keys(value).length === 0);
}
