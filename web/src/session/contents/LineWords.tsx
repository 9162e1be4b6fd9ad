// What a line of the contents says of its turn: what the person asked, which is quoted, or what the turn was about.
import { isPromptsWords } from "../../state/contents";
import { inOneLine } from "../../ui/shown";

interface LineWordsProps {
  summary: string;
  /** The first line of the prompt; null where it is not known. */
  prompt: string | null;
  current: boolean;
}

export function LineWords({ summary, prompt, current }: LineWordsProps) {
  const quoted = isPromptsWords(summary, prompt);
  return (
    <span dir="auto" className={`min-w-0 flex-1 truncate ${current ? "font-medium" : ""} ${quoted ? "text-soft italic" : ""}`}>
      {quoted ? `“${inOneLine(summary)}”` : inOneLine(summary)}
    </span>
  );
}

/** Both, for whoever rests on the line. */
export function lineTitle(summary: string, prompt: string | null, when: string): string {
  const asked = prompt === null || isPromptsWords(summary, prompt) ? "" : `Asked: ${inOneLine(prompt)}\n`;
  return `${asked}${inOneLine(summary)}\n${when}`;
}
