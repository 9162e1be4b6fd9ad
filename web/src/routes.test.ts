// The URL table.
import { expect, test } from "vitest";

import { routeOf } from "./routes";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";

test.each([
  ["/", { page: "list" }],
  [`/s/${SESSION}`, { page: "session", session: SESSION }],
  [`/s/${SESSION}/`, { page: "session", session: SESSION }],
  ["/s/", { page: "unknown" }],
  ["/s/not-an-id", { page: "unknown" }],
  [`/s/${SESSION}/more`, { page: "unknown" }],
  ["/elsewhere", { page: "unknown" }],
])("%s", (path, route) => {
  expect(routeOf(path)).toEqual(route);
});
