// What is being written at the caret that can be completed: a command at the start of a prompt, or a file after an @.
import type { AgentCommand } from "../../wire/names";

export interface Token {
  readonly kind: "command" | "file";
  /** Where the token begins, its sign included. */
  readonly from: number;
  /** What follows the sign, up to the caret. */
  readonly written: string;
}

/** An agent may name any number of commands. */
const MOST_COMMANDS = 50;

export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command !== null) {
    return { kind: "command", from: 0, written: command[1] ?? "" };
  }
  const file = /(?:^|\s)@(\S*)$/.exec(before);
  const written = file?.[1] ?? "";
  return file === null ? null : { kind: "file", from: caret - written.length - 1, written };
}

/** Those that begin with what was written, then those that have it somewhere. */
export function matchingCommands(commands: readonly AgentCommand[], written: string): AgentCommand[] {
  const sought = written.toLowerCase();
  const found = commands.filter(({ name }) => name.toLowerCase().includes(sought));
  const begins = ({ name }: AgentCommand) => name.toLowerCase().startsWith(sought);
  return [...found.filter(begins), ...found.filter((command) => !begins(command))].slice(0, MOST_COMMANDS);
}

/** `text` with the token replaced, and where the caret is then. */
export function complete(text: string, caret: number, token: Token, by: string): { text: string; caret: number } {
  const after = text.slice(caret);
  const space = by.endsWith("/") || /^\s/.test(after) ? "" : " ";
  const put = `${token.kind === "command" ? "/" : "@"}${by}${space}`;
  return { text: text.slice(0, token.from) + put + after, caret: token.from + put.length };
}
