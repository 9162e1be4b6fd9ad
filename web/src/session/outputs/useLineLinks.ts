// Links to lines of an output: which lines the address names, and how to name others.
//
// Invariant: a press on a number changes the address and never moves the reader, and no other way to a line copies anything.
// Lines that the address names when it is opened are gone to once.
import { use, useEffect, useMemo, useState } from "react";

import type { LineRange, ShownPlace } from "../../ui/place";
import { namePlace, placeHref, rangeOf, SoughtContext } from "../../ui/place";
import type { OutputId, SessionId } from "../../wire/names";

/** How long it is said that a link was copied. */
const SAID_MS = 2_500;

export interface LineLinks {
  /** The address of a line, by the number that it is shown with. */
  hrefOf(line: number): string;
  /** Names a line in the address and copies that; `extend` goes on from the lines that are named. */
  press(line: number, extend: boolean): void;
  /** Names a line in the address, for whoever was led to it. */
  name(line: number): void;
}

export interface MarkedLines {
  readonly marked: LineRange | null;
  /** What the address asked for, anew with every asking; null if it asked for something else. */
  readonly sought: ShownPlace | null;
  readonly links: LineLinks;
  /** What came of the last press, for a moment. */
  readonly said: string;
}

interface LineLinksOf {
  session: SessionId;
  turn: number;
  output: OutputId;
  /** It is of a session above the open one, whose places the address cannot name. */
  isPast: boolean;
}

export function useLineLinks({ session, turn, output, isPast }: LineLinksOf): MarkedLines {
  const place = use(SoughtContext);
  const sought = !isPast && place?.shown?.id === output ? place.shown : null;
  const [chosen, setChosen] = useState<{ lines: LineRange; since: ShownPlace | null } | null>(null);
  // What is asked for after a press counts more than the press.
  const marked = chosen !== null && chosen.since === sought ? chosen.lines : (sought?.lines ?? null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (said === "") {
      return undefined;
    }
    const timer = setTimeout(() => setSaid(""), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const links = useMemo<LineLinks>(() => {
    const placeOfLines = (lines: LineRange) => ({ turn, tool: null, shown: { id: output, lines } });
    const hrefOf = (lines: LineRange) => `/s/${session}${placeHref(placeOfLines(lines))}`;
    const name = (lines: LineRange) => {
      setChosen({ lines, since: sought });
      if (!isPast) {
        namePlace(placeOfLines(lines));
      }
    };
    return {
      hrefOf: (line) => hrefOf(rangeOf(line, line)),
      name: (line) => name(rangeOf(line, line)),
      press(line, extend) {
        const lines = extend && marked !== null ? rangeOf(line, line > marked.first ? marked.first : marked.last) : rangeOf(line, line);
        name(lines);
        const words = lines.first === lines.last ? `line ${lines.first}` : `lines ${lines.first} to ${lines.last}`;
        copy(location.origin + hrefOf(lines)).then(
          () => setSaid(`Link to ${words} copied`),
          // Without a secure connection the browser has no clipboard to write to; the address has it.
          () => setSaid(isPast ? "The browser does not let it be copied" : `The address names ${words}`),
        );
      },
    };
  }, [session, turn, output, isPast, marked, sought]);
  return { marked, sought, links, said };
}

async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
