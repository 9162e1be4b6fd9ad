// What the head of an output's card says, and what of the output the page can show.
import { baseName } from "../../state/context";
import { counted } from "../../ui/counted";
import type { IconName } from "../../ui/Icon";
import { inOneLine } from "../../ui/shown";
import type { Output, OutputKind } from "../../wire/names";

/** What the card shows below its head: all of a text, a long text page by page, a picture, or nothing. */
export type Showable = "text" | "pages" | "picture" | "nothing";

/** Kinds of pictures that browsers draw in an image element, which runs no script of theirs. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/svg+xml", "image/x-icon"]);
const TEXTS = /^(?:text\/.+|application\/(?:json|xml|javascript|toml|yaml|.+\+json|.+\+xml))$/;

/** Longer texts come page by page, and stay without the colours of code. */
const MOST_WHOLE_BYTES = 128 * 1024;
const MOST_WHOLE_LINES = 2_000;
/** Larger pictures are loaded only when somebody asks for them. */
const MOST_UNASKED_BYTES = 4 * 1024 ** 2;

export function showableOf(output: Output): Showable {
  if (output.type === "embed" || output.type === "applet") {
    return "nothing";
  }
  if (output.type === "image") {
    return isPicture(output) ? "picture" : "nothing";
  }
  if (!isText(output)) {
    return "nothing";
  }
  if (output.bytes <= MOST_WHOLE_BYTES && (output.lines ?? 0) <= MOST_WHOLE_LINES) {
    return "text";
  }
  // The server cuts nothing else into lines.
  return mimeOf(output).startsWith("text/") ? "pages" : "nothing";
}

export function isPicture(output: Output): boolean {
  return PICTURES.has(mimeOf(output));
}

export function loadsUnasked({ bytes }: Output): boolean {
  return bytes <= MOST_UNASKED_BYTES;
}

/** Without its parameters. */
export function mimeOf({ mimeType }: Output): string {
  return (mimeType.split(";")[0] ?? "").trim().toLowerCase();
}

function isText(output: Output): boolean {
  return typeof output.lines === "number" || TEXTS.test(mimeOf(output));
}

export function nameOf({ path, command, title, url, type }: Output): string {
  const given = inOneLine(path ? baseName(path) : (command ?? title ?? url ?? ""));
  return given !== "" ? given : NAMELESS[type];
}

const NAMELESS: Record<OutputKind, string> = { file: "File", terminal: "Terminal", image: "Picture", embed: "Link", applet: "Applet", raw: "Output" };

/** All that names it, where the name is a part of that. */
export function wholeName(output: Output): string {
  return inOneLine(output.path ?? output.command ?? output.title ?? output.url ?? "") || nameOf(output);
}

export const TYPE_ICONS: Record<OutputKind, IconName> = { file: "file", terminal: "terminal", image: "picture", embed: "globe", applet: "applet", raw: "archive" };

/** As in “lines 10–11 of 400 · 1.2 kB”. */
export function detailWords(output: Output): string {
  return inDetail(output, sizeWords(output.bytes));
}

function inDetail(output: Output, size: string | null): string {
  const { durationMs } = output;
  const lasted = typeof durationMs === "number" ? durationWords(durationMs) : null;
  return [lasted, lineWords(output), size].filter((words) => words !== null).join(" · ");
}

/** What is known of the text of an output whose file was edited: all of it, how many lines it has, or nothing. */
export type EditedText = { readonly kind: "text"; readonly text: string } | { readonly kind: "lines"; readonly lines: number } | { readonly kind: "unknown" };

/** The same of an output whose file was edited: of what is known of its text, or else of what was shown. */
export function editedWords(output: Output, edited: EditedText): string {
  switch (edited.kind) {
    case "text":
      return detailWords(editedOutput(output, edited));
    case "lines":
      return inDetail(editedOutput(output, edited), null);
    case "unknown":
      return `${detailWords(output)} when it was shown`;
  }
}

/** An output whose file was edited, with what its text has now. */
export function editedOutput(output: Output, edited: EditedText): Output {
  switch (edited.kind) {
    case "text":
      return { ...output, lines: edited.text === "" ? 0 : countOf(edited.text), totalLines: null, bytes: new TextEncoder().encode(edited.text).length };
    case "lines":
      return { ...output, lines: edited.lines, totalLines: null, bytes: edited.lines === 0 ? 0 : output.bytes };
    case "unknown":
      return { ...output, lines: null, totalLines: null };
  }
}

/** The lines of a text, as the server counts them: the end of the last line begins no further one. */
export function countOf(text: string): number {
  let count = 0;
  for (let at = -1; (at = text.indexOf("\n", at + 1)) >= 0; ) {
    count += 1;
  }
  return text.endsWith("\n") ? count : count + 1;
}

/** How a command ended; null for what no command printed. */
export function endingWords({ type, endedBy, exitCode }: Output): { words: string; failed: boolean } | null {
  if (type !== "terminal") {
    return null;
  }
  switch (endedBy) {
    case "timeout":
      return { words: "Stopped: its time was up", failed: true };
    case "limit":
      return { words: "Stopped: it printed too much", failed: true };
    case "signal":
      return { words: "Ended by a signal", failed: true };
    case "cancelled":
      return { words: "Cancelled", failed: false };
    case null:
    case undefined:
      return typeof exitCode === "number" ? { words: `exit ${exitCode}`, failed: exitCode !== 0 } : null;
  }
}

/** “0.4 s”, “12 s”, “3 min 20 s”. */
export function durationWords(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) {
    return `${seconds < 9.95 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  }
  const rest = Math.floor(seconds % 60);
  return `${Math.floor(seconds / 60).toLocaleString("en")} min${rest === 0 ? "" : ` ${rest} s`}`;
}

function lineWords({ startLine, lines, totalLines }: Output): string | null {
  if (typeof lines !== "number") {
    return null;
  }
  const first = startLine ?? 1;
  if (lines === 0 || (first === 1 && (totalLines ?? lines) === lines)) {
    return counted(lines, "line");
  }
  const range = lines === 1 ? `line ${number(first)}` : `lines ${number(first)}–${number(first + lines - 1)}`;
  return typeof totalLines === "number" ? `${range} of ${number(totalLines)}` : range;
}

function number(value: number): string {
  return value.toLocaleString("en");
}

/** “20 bytes”, “1.2 kB”, “12 MB”. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) {
    return counted(bytes, "byte");
  }
  const [size, unit] = bytes < 999_500 ? [bytes / 1e3, "kB"] : bytes < 999_500_000 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"];
  return `${size < 9.95 ? size.toFixed(1) : size.toFixed(0)} ${unit}`;
}

/** The name for the file that the browser keeps. */
export function downloadName(output: Output): string {
  if (output.path) {
    return inOneLine(baseName(output.path));
  }
  const mime = mimeOf(output);
  return `output.${PICTURES.has(mime) ? mime.replace(/^image\/(?:x-)?|\+xml$/g, "") : isText(output) ? "txt" : "bin"}`;
}

/** Which language its text is coloured as. */
export function languageOf({ highlight, path }: Output): string | null {
  return highlight ?? /\.([^./\\]+)$/.exec(path ?? "")?.[1] ?? null;
}
