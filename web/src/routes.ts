// The whole URL table.
import type { SessionId } from "./wire/names";

export type Route = { page: "list" } | { page: "session"; session: SessionId } | { page: "unknown" };

/** `#new=DIRECTORY` asks for a session there; what comes of it is up to the person who sees the dialog. */
export const NEW_FIELD = "new";

export function routeOf(path: string): Route {
  if (path === "/") {
    return { page: "list" };
  }
  const session = /^\/s\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/.exec(path)?.[1];
  return session === undefined ? { page: "unknown" } : { page: "session", session };
}
