// Which applet is open, as the address and the context set say it.
import { expect, test } from "vitest";

import type { AppletAddress } from "./address";
import { addressOfItems, appletAt, appletHref, itemsOf, searchOf } from "./address";

const OUTPUT = `out_${"a1".repeat(16)}`;
const today = (applet: string, params = {}): AppletAddress => ({ applet, params, past: null });

test.each([
  ["", null],
  ["?file=/a", null],
  ["?applet=counter", today("counter")],
  ["?applet=_shown", today("_shown")],
  ["?path=a%20b&applet=text-editor&q=x%3Dy", today("text-editor", { path: "a b", q: "x=y" })],
  [`?applet=counter&_past=t12.${OUTPUT}`, { applet: "counter", params: {}, past: { turn: 12, output: OUTPUT } }],
  ["?applet=counter&_past=t12", today("counter")],
  ["?applet=counter&_past=javascript:1", today("counter")],
  ["?applet=../x", null],
  ["?applet=Counter", null],
  ["?applet=-x", null],
  [`?applet=${"x".repeat(65)}`, null],
  ["?applet=_other", null],
])("%s", (search, expected) => {
  expect(appletAt(search)).toEqual(expected);
});

test.each([today("counter"), today("a", { path: "/a b&c?#<x>", "ü": "é", __proto: "" }), { applet: "_shown", params: { k: "v" }, past: { turn: 3, output: OUTPUT } }])(
  "what is written is read back: %j",
  (address) => {
    expect(appletAt(searchOf(address))).toEqual(address);
  },
);

test("an applet is not given the page's own fields, and can not set them", () => {
  expect(searchOf(today("counter", { applet: "evil", _past: `t1.${OUTPUT}`, "": "x", k: "v" }))).toBe("?applet=counter&k=v");
});

test("the context set holds the slug and what it was opened with; what is not saved, or past, is in no set", () => {
  const address = today("text-editor", { path: "/a b", q: "x=y" });
  expect(itemsOf(address)).toEqual(["text-editor", "path=/a b", "q=x=y"]);
  expect(addressOfItems(itemsOf(address) ?? [])).toEqual(address);
  expect(addressOfItems([])).toBeNull();
  expect(itemsOf(today("_shown"))).toBeNull();
  expect(itemsOf({ ...today("counter"), past: { turn: 1, output: OUTPUT } })).toBeNull();
  expect(appletHref("s", address)).toBe("/s/s?applet=text-editor&path=%2Fa+b&q=x%3Dy");
});
