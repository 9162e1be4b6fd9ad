// Words that a tool call shows as they come.
import type { ToolContent } from "../wire/names";

export function addToContent(content: readonly ToolContent[], text: string): readonly ToolContent[] {
  const last = content.at(-1);
  switch (last?.type) {
    case "text":
      return content.with(-1, { ...last, text: last.text + text });
    case "terminal":
      return content.with(-1, { ...last, output: last.output + text });
    case "image":
    case "link":
    case "diff":
    case "omitted":
    case "raw":
    case undefined:
      return [...content, { type: "text", text }];
    default:
      last satisfies never;
      return [...content, { type: "text", text }];
  }
}
