// The applet that is open in a session, as frames tell of it.
import { expect, test } from "vitest";

import type { AppletFrame, JsonObject } from "../wire/applets";
import { applyAppletFrame, withoutApplet } from "./applets";

const state = (version: number, value: JsonObject, applet = "counter"): AppletFrame => ({ type: "applet_state", session: "s", applet, state: value as Record<string, never>, version });
const changed = (hash?: string, applet = "counter"): AppletFrame => ({ type: "applet_changed", session: "s", applet, hash: hash ?? null });
const after = (...frames: AppletFrame[]) => frames.reduce(applyAppletFrame, new Map()).get("s");

test.each([
  ["a state", [state(1, { n: 1 })], { applet: "counter", state: { n: 1 }, version: 1 }],
  ["one that nobody wrote", [state(0, {})], { applet: "counter", state: {}, version: 0 }],
  ["the newest of them", [state(2, { n: 2 }), state(1, { n: 1 }), state(2, { n: 9 })], { applet: "counter", state: { n: 2 }, version: 2 }],
  ["another content", [state(1, { n: 1 }), changed("h2")], { applet: "counter", state: { n: 1 }, version: 1, hash: "h2" }],
  ["that it is gone", [changed()], { applet: "counter", state: {}, version: -1, hash: null }],
  ["another applet", [state(9, { n: 1 }), changed("h2"), state(1, { x: 1 }, "other")], { applet: "other", state: { x: 1 }, version: 1 }],
])("%s", (_, frames, expected) => {
  expect(after(...frames)).toEqual(expected);
});

test("what was closed is forgotten", () => {
  const open = applyAppletFrame(new Map(), state(1, {}));
  expect(withoutApplet(open, "s").size).toBe(0);
  expect(withoutApplet(open, "other")).toBe(open);
});
