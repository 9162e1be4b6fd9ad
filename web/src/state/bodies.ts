// Follows which parts of a call are kept beside the log, and puts them back into it, or says where something is missing.
import type { BodyRef, ToolChange, ToolContent } from "../wire/names";
import type { ToolCall } from "./transcript";

/** The texts of bodies by their hashes. */
export type BodyTexts = ReadonlyMap<string, string>;

/** What is written where something is missing. */
type Gap = (body: BodyRef, headLength: number) => string;

/** The bodies of a call that are texts: pictures are shown by themselves. */
export function textBodies(call: ToolCall): readonly BodyRef[] {
  return (call.bodies ?? []).filter(({ of, item }) => isOfValue(of) || call.content[item ?? 0]?.type !== "image");
}

/** Not of one of the things that a call shows. */
export function isOfValue(of: BodyRef["of"]): boolean {
  return of === "input" || of === "output";
}

/** The body of a picture that a call shows. */
export function pictureBody(call: ToolCall, item: number): BodyRef | null {
  return call.bodies?.find((body) => (body.of ?? "shown") === "shown" && (body.item ?? 0) === item) ?? null;
}

/** Whether a change has only the beginnings of its texts: these say nothing of what changed. */
export function isLongChange(call: ToolCall, item: number): boolean {
  return (call.bodies ?? []).some((body) => (body.of === "old_text" || body.of === "new_text") && (body.item ?? 0) === item);
}

/** The call with the texts that are known; where one is not, `gap` is written. */
export function withBodies(call: ToolCall, texts: BodyTexts, gap: Gap): ToolCall {
  const all = textBodies(call);
  const of = (what: BodyRef["of"], item: number) => all.filter((body) => (body.of ?? "shown") === what && (body.item ?? 0) === item);
  const text = (head: string, bodies: readonly BodyRef[]) => spliced(head, bodies, texts, gap);
  const content = call.content.map((shown, item): ToolContent => {
    switch (shown.type) {
      case "text":
        return { ...shown, text: text(shown.text, of("shown", item)) };
      case "terminal":
        return { ...shown, output: text(shown.output, of("shown", item)) };
      case "diff":
        return { ...shown, newText: text(shown.newText, of("new_text", item)), ...(typeof shown.oldText === "string" && { oldText: text(shown.oldText, of("old_text", item)) }) };
      case "raw":
        return { ...shown, value: valueOf(shown.value, of("shown", item), texts) as typeof shown.value };
      case "image":
      case "link":
      case "omitted":
        return shown;
    }
  });
  const left = (call.bodies ?? []).filter(({ sha256 }) => typeof sha256 !== "string" || !texts.has(sha256));
  const input = valueOf(call.input, of("input", 0), texts);
  const output = valueOf(call.output, of("output", 0), texts);
  return { ...call, content, input, output, bodies: left };
}

function spliced(head: string, bodies: readonly BodyRef[], texts: BodyTexts, gap: Gap): string {
  let whole = "";
  let at = 0;
  for (const body of bodies) {
    const start = body.start ?? 0;
    const end = start + (body.head ?? 0);
    const text = typeof body.sha256 === "string" ? texts.get(body.sha256) : undefined;
    const beginning = wholeLines(head.slice(start, end));
    whole += head.slice(at, start) + (text ?? beginning + gap(body, beginning.length));
    at = end;
  }
  return whole + head.slice(at);
}

/** A head may end within a word or a number, which nobody could tell from a whole one. */
function wholeLines(head: string): string {
  const end = head.lastIndexOf("\n");
  return end < 0 ? head : head.slice(0, end);
}

function valueOf(head: unknown, bodies: readonly BodyRef[], texts: BodyTexts): unknown {
  const text = bodies.map(({ sha256 }) => (typeof sha256 === "string" ? texts.get(sha256) : undefined)).find((found) => found !== undefined);
  if (text === undefined) {
    return head;
  }
  try {
    return JSON.parse(text);
  } catch {
    return head;
  }
}

/** The call with a part that is only the head of something; it comes behind what the call shows last. */
export function withPart(call: ToolCall, body: BodyRef | null): ToolCall {
  if (body === null) {
    return call;
  }
  const last = call.content.at(-1);
  const text = last?.type === "text" ? last.text : last?.type === "terminal" ? last.output : null;
  const place = text === null ? { item: call.content.length, start: 0 } : { item: call.content.length - 1, start: text.length };
  return { ...call, bodies: [...(call.bodies ?? []), placed(body, place)] };
}

/** A place that is zero is not written down. */
function placed(body: BodyRef, { item, start }: { item: number; start: number }): BodyRef {
  return { ...body, ...(item > 0 && { item }), ...(start > 0 && { start }) };
}

/** A body goes with the head that it belongs to. */
export function bodiesAfter(call: ToolCall, { content, input, output, bodies }: ToolChange): Pick<ToolCall, "bodies"> {
  const gone = (of: BodyRef["of"]) => (of === "input" ? input : of === "output" ? output : content) !== undefined;
  const left = [...(call.bodies ?? []).filter(({ of }) => !gone(of)), ...(bodies ?? [])];
  return left.length > 0 ? { bodies: left } : {};
}
