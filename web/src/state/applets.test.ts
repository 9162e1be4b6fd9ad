// The applet that is open in a session, as frames tell of it.
import { expect, test } from "vitest";

import type { AppletFrame, JsonObject } from "../wire/applets";
import { applyAppletFrame, withoutApplet } from "./applets";

const state = (version: number, value: JsonObject, applet = "counter"): AppletFrame => ({ type: "applet_state", session: "s", applet, state: value as Record<string, never>, version });
const changed = (hash?: string, applet = "counter"): AppletFrame => ({ type: "applet_changed", session: "s", applet, hash: hash ?? null });
const unreadable = (message: string): AppletFrame => ({ type: "applet_state_unreadable", session: "s", applet: "counter", message });
const after = (...frames: AppletFrame[]) => frames.reduce(applyAppletFrame, new Map()).get("s");

test.each([
  ["a state", [state(1, { n: 1 })], { applet: "counter", state: { n: 1 }, version: 1, trouble: null }],
  ["one that nobody wrote", [state(0, {})], { applet: "counter", state: {}, version: 0, trouble: null }],
  ["the newest of them", [state(2, { n: 2 }), state(1, { n: 1 }), state(2, { n: 9 })], { applet: "counter", state: { n: 2 }, version: 2, trouble: null }],
  ["another content", [state(1, { n: 1 }), changed("h2")], { applet: "counter", state: { n: 1 }, version: 1, hash: "h2", trouble: null }],
  ["that it is gone", [changed()], { applet: "counter", state: {}, version: -1, hash: null, trouble: null }],
  ["another applet", [state(9, { n: 1 }), changed("h2"), state(1, { x: 1 }, "other")], { applet: "other", state: { x: 1 }, version: 1, trouble: null }],
  ["that it can not be read", [state(3, { n: 3 }), unreadable("no object")], { applet: "counter", state: { n: 3 }, version: 3, trouble: "no object" }],
  ["that it never could be", [unreadable("no object")], { applet: "counter", state: {}, version: -1, trouble: "no object" }],
  ["a state that was mended", [state(3, { n: 3 }), unreadable("no object"), state(4, { n: 4 })], { applet: "counter", state: { n: 4 }, version: 4, trouble: null }],
  ["one that was put back as it was", [state(3, { n: 3 }), unreadable("no object"), state(3, { n: 3 })], { applet: "counter", state: { n: 3 }, version: 3, trouble: null }],
])("%s", (_, frames, expected) => {
  expect(after(...frames)).toEqual(expected);
});

test("what was closed is forgotten", () => {
  const open = applyAppletFrame(new Map(), state(1, {}));
  expect(withoutApplet(open, "s").size).toBe(0);
  expect(withoutApplet(open, "other")).toBe(open);
});
