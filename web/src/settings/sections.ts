// The pages of the settings, and which settings stand on which.
import type { Setting } from "../wire/names";

/** In the order in which they are listed; the first is at `/settings` itself. */
export const SECTIONS = [
  { name: "general", title: "General", keys: [] },
  { name: "agents", title: "Agents", keys: ["agents", "mcp_servers"] },
  { name: "permissions", title: "Permissions", keys: ["permissions"] },
  { name: "devices", title: "Devices and tokens", keys: [] },
  { name: "sessions", title: "Sessions", keys: ["summaries", "brief", "tools", "usage", "prices", "page"] },
  { name: "server", title: "Server", keys: ["server", "limits"] },
] as const satisfies readonly { name: string; title: string; keys: readonly string[] }[];

export type SectionName = (typeof SECTIONS)[number]["name"];

export function sectionPath(name: SectionName): string {
  return name === SECTIONS[0].name ? "/settings" : `/settings/${name}`;
}

/** The settings of a page, in the server's order; what no page names is the server's. */
export function settingsOf(name: SectionName, values: readonly Setting[]): Setting[] {
  const pageOf = ({ key }: Setting): SectionName => {
    const first = key.split(".")[0] ?? "";
    return SECTIONS.find(({ keys }) => (keys as readonly string[]).includes(first))?.name ?? "server";
  };
  return values.filter((setting) => pageOf(setting) === name);
}

/** What the tables of `config.toml` are about. */
const TABLES: Readonly<Record<string, string>> = {
  summaries: "Summaries and titles",
  brief: "What agents are told of their session",
  tools: "What agents can look up",
  usage: "Warnings about cost",
  prices: "Prices of models",
  page: "Words on the page",
  permissions: "What agents may do",
  agents: "Agents",
  mcp_servers: "MCP servers",
  server: "Where the server is reached",
  limits: "Limits",
};

export interface SettingGroup {
  /** In plain words, with the name of what the table is of, if it is of one thing. */
  readonly title: string;
  /** Its name in the file; null for what is not set there. */
  readonly table: string | null;
  readonly settings: readonly Setting[];
}

/** Those of one table of `config.toml` together. */
export function groupsOf(settings: readonly Setting[]): SettingGroup[] {
  const tables = new Map<string | null, Setting[]>();
  for (const setting of settings) {
    const end = setting.key.lastIndexOf(".");
    const table = end < 0 ? null : setting.key.slice(0, end);
    tables.set(table, [...(tables.get(table) ?? []), setting]);
  }
  return [...tables].map(([table, ofTable]) => ({ title: titleOf(table), table, settings: ofTable }));
}

function titleOf(table: string | null): string {
  if (table === null) {
    return "Given when the server is started";
  }
  const [first = "", ...rest] = table.split(".");
  const words = TABLES[first];
  return words === undefined ? table : [words, ...rest].join(": ");
}

/** A value in words: what it is in TOML stands in the line that changes it. */
export function valueWords(value: string | null | undefined): string {
  switch (value) {
    case null:
    case undefined:
      return "Not set";
    case "true":
      return "Yes";
    case "false":
      return "No";
    case "[]":
    case "{}":
      return "None";
    default:
      return value.replace(/^"""\n?([^]*?)\n?"""$/, "$1").replace(/^"([^"\\]*)"$/, "$1").replace(/^(-?\d+)\.0$/, "$1");
  }
}
