// The whole URL table.
import type { SectionName } from "./settings/sections";
import { SECTIONS } from "./settings/sections";
import type { SessionId } from "./wire/names";

export type Route = { page: "list" } | { page: "session"; session: SessionId } | { page: "settings"; section: SectionName } | { page: "usage" } | { page: "unknown" };

/** `#new=DIRECTORY` asks for a session there; what comes of it is up to the person who sees the dialog. */
export const NEW_FIELD = "new";

/** Pages of the settings that are a part of another one now; links to them are still about. */
const MOVED: Readonly<Record<string, SectionName>> = { appearance: "general", notifications: "general" };

export function routeOf(path: string): Route {
  if (path === "/") {
    return { page: "list" };
  }
  const named = /^\/settings(?:\/([a-z]+))?\/?$/.exec(path);
  if (named !== null) {
    const wanted = named[1] ?? SECTIONS[0].name;
    const section = SECTIONS.find(({ name }) => name === (MOVED[wanted] ?? wanted));
    return section === undefined ? { page: "unknown" } : { page: "settings", section: section.name };
  }
  if (path === "/usage" || path === "/usage/") {
    return { page: "usage" };
  }
  const session = /^\/s\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/.exec(path)?.[1];
  return session === undefined ? { page: "unknown" } : { page: "session", session };
}
