// What a command printed, as lines of text with looks: the way a terminal would show it when the command is done.
//
// Invariant: everything that comes out is text to be shown as text. Colours become names of the page's own palette; every
// other control sequence is left out, and so can do nothing: no title is set, no clipboard written, nothing scrolled or
// hidden. A sequence that never ends ends with its line, so that it cannot swallow what follows.
import { shown } from "../../ui/shown";

/** A piece of a line; `look` is class names, empty for plain text. */
export interface TextRun {
  readonly look: string;
  readonly text: string;
}

export type TerminalLine = readonly TextRun[];

/** No language puts so many marks on one letter, and a browser that lays out a letter with very many of them hangs. */
const MOST_MARKS = 30;
/** A tab goes on to the next column that this divides. */
const TAB = 8;

interface Look {
  /** A colour of the palette, 0 to 15. */
  fg: number | null;
  bg: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  struck: boolean;
  inverse: boolean;
}

const PLAIN: Look = { fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, struck: false, inverse: false };

// Sequences with parameters, and strings such as titles and clipboards. Each may begin with one character or with Escape and
// another; one that is not complete reaches to the end of its line.
// eslint-disable-next-line no-control-regex
const SEQUENCE = /(?:\u001B\[|\u009B)([0-?]*)[ -/]*([@-~])?|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\n\u0007\u001B\u009C]*(?:\u0007|\u009C|\u001B\\)?|\u001B[ -/]*[0-~]?/y;

/** The lines of it; the end of the last line begins no further one. */
export function terminalLines(text: string): TerminalLine[] {
  const lines: TerminalLine[] = [];
  let look = PLAIN;
  let name = "";
  let line = new Line();
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x1b || (code >= 0x80 && code < 0xa0)) {
      SEQUENCE.lastIndex = at;
      const found = SEQUENCE.exec(text);
      if (found !== null) {
        const [whole, parameters = "", final] = found;
        if (final === "m") {
          look = changedLook(look, parameters);
          name = classesOf(look);
        } else if (final === "K") {
          line.erase(parameters);
        }
        at += Math.max(1, whole.length);
        continue;
      }
    }
    switch (code) {
      case 0x0a:
        lines.push(line.runs());
        line = new Line();
        break;
      case 0x0d:
        line.column = 0;
        break;
      case 0x08:
        line.column = Math.max(0, line.column - 1);
        break;
      case 0x09:
        line.tab(name);
        break;
      case 0x00:
      case 0x07:
        // A bell and what fills time: a terminal shows neither.
        break;
      default: {
        const letter = String.fromCodePoint(text.codePointAt(at) ?? 0);
        line.put(letter, name);
        at += letter.length - 1;
      }
    }
    at += 1;
  }
  if (!line.isEmpty()) {
    lines.push(line.runs());
  }
  return lines;
}

/** As it is copied: without any looks. */
export function plainText(lines: readonly TerminalLine[]): string {
  return lines.map((runs) => runs.map(({ text }) => text).join("")).join("\n");
}

/** One line of the screen. What is put where something is takes its place. */
class Line {
  column = 0;
  readonly #letters: string[] = [];
  readonly #looks: string[] = [];
  /** Marks that were put on the last letter, and those of them that were left out. */
  #marks = 0;
  #left = 0;

  put(letter: string, look: string): void {
    if (letter > "\u02FF" && /\p{M}/u.test(letter)) {
      this.#marks += 1;
      if (this.#marks > MOST_MARKS) {
        this.#left += 1;
        return;
      }
    } else {
      this.#endMarks();
    }
    this.#set(letter, look);
  }

  tab(look: string): void {
    for (const end = (Math.floor(this.column / TAB) + 1) * TAB; this.column < end; ) {
      if (this.column < this.#letters.length) {
        this.column += 1;
      } else {
        this.#set(" ", look);
      }
    }
  }

  /** 0: from the cursor on; 1: up to it; 2: all. */
  erase(which: string): void {
    const { column } = this;
    if (which === "" || which === "0") {
      this.#letters.length = Math.min(this.#letters.length, column);
      this.#looks.length = this.#letters.length;
    } else if (which === "1" || which === "2") {
      const end = which === "1" ? Math.min(column + 1, this.#letters.length) : this.#letters.length;
      this.#letters.fill(" ", 0, end);
      this.#looks.fill("", 0, end);
    }
  }

  isEmpty(): boolean {
    return this.#letters.length === 0 && this.#left === 0;
  }

  /** Neighbours of one look are one run, with what is hidden in it named. */
  runs(): TerminalLine {
    this.#endMarks();
    const runs: TextRun[] = [];
    let from = 0;
    for (let at = 1; at <= this.#letters.length; at++) {
      if (at === this.#letters.length || this.#looks[at] !== this.#looks[from]) {
        runs.push({ look: this.#looks[from] ?? "", text: shown(this.#letters.slice(from, at).join("")) });
        from = at;
      }
    }
    return runs;
  }

  #set(letter: string, look: string): void {
    // Erased beyond its end, and written to there.
    while (this.#letters.length < this.column) {
      this.#letters.push(" ");
      this.#looks.push("");
    }
    this.#letters[this.column] = letter;
    this.#looks[this.column] = look;
    this.column += 1;
  }

  #endMarks(): void {
    this.#marks = 0;
    if (this.#left > 0) {
      const note = `⟨${this.#left.toLocaleString("en")} more marks on this letter⟩`;
      this.#left = 0;
      for (const letter of note) {
        this.#set(letter, "");
      }
    }
  }
}

function changedLook(before: Look, parameters: string): Look {
  // What is private to a terminal is no look.
  if (!/^[\d;:]*$/.test(parameters)) {
    return before;
  }
  const look = { ...before };
  const fields = parameters.split(";");
  for (let at = 0; at < fields.length; at++) {
    const [field = "", ...more] = (fields[at] ?? "").split(":");
    const code = Number(field);
    if (code === 38 || code === 48 || code === 58) {
      // The colour's own numbers come after colons, or as the fields that follow.
      const numbers = more.length > 0 ? more : fields.slice(at + 1, at + 5);
      const [colour, taken] = extendedColour(numbers);
      at += more.length > 0 ? 0 : taken;
      if (code === 38 && colour !== null) {
        look.fg = colour;
      } else if (code === 48 && colour !== null) {
        look.bg = colour;
      }
    } else {
      apply(look, code, more[0]);
    }
  }
  return look;
}

function apply(look: Look, code: number, kind: string | undefined): void {
  if (code === 0) {
    Object.assign(look, PLAIN);
  } else if (code === 1) {
    look.bold = true;
  } else if (code === 2) {
    look.dim = true;
  } else if (code === 3) {
    look.italic = true;
  } else if (code === 4 || code === 21) {
    look.underline = kind !== "0";
  } else if (code === 7) {
    look.inverse = true;
  } else if (code === 9) {
    look.struck = true;
  } else if (code === 22) {
    look.bold = look.dim = false;
  } else if (code === 23) {
    look.italic = false;
  } else if (code === 24) {
    look.underline = false;
  } else if (code === 27) {
    look.inverse = false;
  } else if (code === 29) {
    look.struck = false;
  } else if (code === 39) {
    look.fg = null;
  } else if (code === 49) {
    look.bg = null;
  } else if (code >= 30 && code <= 37) {
    look.fg = code - 30;
  } else if (code >= 40 && code <= 47) {
    look.bg = code - 40;
  } else if (code >= 90 && code <= 97) {
    look.fg = code - 90 + 8;
  } else if (code >= 100 && code <= 107) {
    look.bg = code - 100 + 8;
  }
  // Text that is to be hidden is shown, and nothing blinks.
}

/** The colour of `5;N` or `2;R;G;B`, and how many fields that took. */
function extendedColour(numbers: readonly string[]): [colour: number | null, taken: number] {
  const [kind, ...rest] = numbers;
  if (kind === "5") {
    const index = Number(rest[0]);
    return [Number.isInteger(index) && index >= 0 && index < 256 ? ofIndex(index) : null, 2];
  }
  if (kind === "2") {
    // With colons the colour space may stand before them.
    const [r, g, b] = (rest.length > 3 ? rest.slice(-3) : rest).map((part) => Math.min(255, Number(part) || 0));
    return [r === undefined || g === undefined || b === undefined ? null : nearest(r, g, b), 4];
  }
  return [null, 1];
}

/** Of the table of 256: sixteen colours, a cube of six by six by six, and greys. */
function ofIndex(index: number): number {
  if (index < 16) {
    return index;
  }
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return nearest(grey, grey, grey);
  }
  const step = (part: number) => (part === 0 ? 0 : 55 + part * 40);
  const cube = index - 16;
  return nearest(step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6));
}

/** The palette's colour of the same hue. The exact one could be as pale as the page. */
function nearest(r: number, g: number, b: number): number {
  const [high, low] = [Math.max(r, g, b), Math.min(r, g, b)];
  const light = (high + low) / 510;
  if (high - low < 32) {
    return light < 0.2 ? 0 : light < 0.6 ? 8 : light < 0.9 ? 7 : 15;
  }
  const span = high - low;
  const sixths = high === r ? ((g - b) / span + 6) % 6 : high === g ? (b - r) / span + 2 : (r - g) / span + 4;
  const hue = sixths * 60;
  const base = hue < 20 || hue >= 345 ? 1 : hue < 70 ? 3 : hue < 160 ? 2 : hue < 200 ? 6 : hue < 260 ? 4 : 5;
  return light > 0.6 ? base + 8 : base;
}

function classesOf({ fg, bg, bold, dim, italic, underline, struck, inverse }: Look): string {
  const names = [
    inverse ? (bg === null ? "ansi-paper" : `ansi-fg-${bg}`) : fg !== null ? `ansi-fg-${fg}` : dim && bg === null ? "ansi-dim" : "",
    inverse ? (fg === null ? "ansi-ink" : `ansi-bg-${fg}`) : bg === null ? "" : `ansi-bg-${bg}`,
    bold ? "ansi-bold" : "",
    italic ? "ansi-italic" : "",
    underline ? "ansi-underline" : "",
    struck ? "ansi-struck" : "",
  ];
  // Paper on ink only where both are turned round; else the ink stays on the tint.
  const both = names.filter((name) => name !== "" && !(name === "ansi-paper" && fg !== null) && !(name === "ansi-ink" && bg !== null));
  return both.join(" ");
}
