// The URL table.
import { expect, test } from "vitest";

import { routeOf } from "./routes";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";

test.each([
  ["/", { page: "list" }],
  [`/s/${SESSION}`, { page: "session", session: SESSION }],
  [`/s/${SESSION}/`, { page: "session", session: SESSION }],
  ["/usage", { page: "usage" }],
  ["/usage/", { page: "usage" }],
  ["/usage/more", { page: "unknown" }],
  ["/s/", { page: "unknown" }],
  ["/s/not-an-id", { page: "unknown" }],
  [`/s/${SESSION}/more`, { page: "unknown" }],
  ["/settings", { page: "settings", section: "general" }],
  ["/settings/", { page: "settings", section: "general" }],
  ["/settings/appearance", { page: "settings", section: "general" }],
  ["/settings/notifications", { page: "settings", section: "general" }],
  ["/settings/agents", { page: "settings", section: "agents" }],
  ["/settings/secrets", { page: "unknown" }],
  ["/settings/agents/more", { page: "unknown" }],
  ["/elsewhere", { page: "unknown" }],
])("%s", (path, route) => {
  expect(routeOf(path)).toEqual(route);
});
