// Whether a prompt begins with a command that its agent does not list.
import type { AgentCommand } from "../../wire/names";

/** As the server sees it: words with a blank before the slash are words. A path, as in `/etc/hosts`, is no command. */
const COMMAND = /^\/([^\s/]{1,100})(?:\s|$)/;

/** The command's name; null if it is known, if there is none, or if the agent lists none at all. */
export function unknownCommand(prompt: string, commands: readonly AgentCommand[]): string | null {
  const name = COMMAND.exec(prompt.slice(0, 200))?.[1];
  return name === undefined || commands.length === 0 || commands.some((command) => command.name === name) ? null : name;
}
