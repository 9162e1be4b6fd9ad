// Characters that cannot be seen, or that change how their neighbours are seen, turned into ones that can.
//
// Invariant: nothing is left out. A hidden character stands in the same place under a name: `␛` for an escape, and
// `⟨U+202E⟩` for what has no sign of its own.

// Control characters but line ends and tabs, what reverses the direction of text, and the tag block.
const HARMFUL = /(?![\n\t])\p{Cc}|[\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]|\p{Cs}/gu;

// As above, and everything else that takes no room: whoever decides by these words must see each of them.
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]|\u034F|[\u115F\u1160\u2800\u3164\uFFA0]|\p{Variation_Selector}/gu;

// No language puts so many marks on one letter, and a browser that lays out a letter with very many of them hangs.
const STACKED = /(\p{M}{30})(\p{M}+)/gu;

/** For reading: joiners that emoji and some scripts need stay as they are. */
export function shown(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(HARMFUL, nameOf).replace(STACKED, (_, some: string, rest: string) => `${some}⟨${[...rest].length.toLocaleString("en")} more marks on this letter⟩`);
}

const UNSEEN_OR_STACKED = new RegExp(`${STACKED.source}|(?:${UNSEEN.source})+`, "gu");

/** Pieces of text for deciding by, of which every second one names a hidden character. */
export function shownExactly(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN_OR_STACKED)) {
    const [all, some = ""] = found;
    pieces.push(text.slice(from, found.index + some.length), namesOf(all.slice(some.length)));
    from = found.index + all.length;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** Each under its name; many of the same one after another, with how many they are. */
function namesOf(characters: string): string {
  let names = "";
  let [before, count] = ["", 0];
  const end = () => {
    const name = before === "" ? "" : nameOf(before);
    names += count < 4 ? name.repeat(count) : `${name}×${count.toLocaleString("en")}`;
  };
  for (const character of characters) {
    if (character !== before) {
      end();
      [before, count] = [character, 0];
    }
    count += 1;
  }
  end();
  return names;
}

/** In one line, however many it was. */
export function inOneLine(text: string): string {
  return shown(text).replace(/\s+/g, " ").trim();
}

// eslint-disable-next-line no-control-regex
const COLOUR = /\u001B\[[0-9;:]*m/g;

/** What a command printed: its colours are left out, and what was drawn over stands on a line of its own. */
export function printed(text: string): string {
  return shown(text.replace(COLOUR, "").replace(/\r+\n?/g, (ends) => (ends.endsWith("\n") ? "\n" : "\n".repeat(ends.length))));
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) {
    return String.fromCodePoint(0x2400 + code);
  }
  return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
