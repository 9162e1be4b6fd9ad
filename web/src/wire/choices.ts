// What is offered to choose from: agents, directories and files.
import type { Agent } from "./names";

/** An agent of the catalog, with what is known of it on this machine. */
export type ListedAgent = Agent & {
  /** A server that does not say so lists only those that are there. */
  installed?: boolean;
  /** In the program's own words. */
  version?: string | null;
  /** How to get it, in a sentence with commands between backticks. */
  install?: string | null;
  /** How to sign in to it in a terminal, likewise. */
  signIn?: string | null;
  notes?: string[];
};

export interface DirectoryPage {
  /** Those whose path goes on from what was typed. */
  directories: { path: string; isProject: boolean }[];
  /** Where the newest sessions work, whatever was typed. */
  recent: { path: string }[];
}

export interface FilePage {
  /** Relative to the session's directory; a directory ends with a slash. */
  files: { path: string }[];
}

export function isInstalled(agent: ListedAgent): boolean {
  return agent.installed !== false;
}
