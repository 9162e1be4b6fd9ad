// The pages of the settings, and which settings stand on which.
import type { Setting } from "../wire/names";

/** In the order in which they are listed; the first is at `/settings` itself. */
export const SECTIONS = [
  { name: "general", title: "General", keys: ["page", "summaries", "brief", "tools"] },
  { name: "agents", title: "Agents", keys: ["agents", "mcp_servers"] },
  { name: "permissions", title: "Permissions", keys: ["permissions"] },
  { name: "devices", title: "Devices and tokens", keys: [] },
  { name: "appearance", title: "Appearance", keys: [] },
  { name: "notifications", title: "Notifications", keys: [] },
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

/** Those of one table of `config.toml` together. */
export function groupsOf(settings: readonly Setting[]): [title: string, settings: Setting[]][] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const end = setting.key.lastIndexOf(".");
    const title = end < 0 ? "At the start" : setting.key.slice(0, end);
    groups.set(title, [...(groups.get(title) ?? []), setting]);
  }
  return [...groups];
}
