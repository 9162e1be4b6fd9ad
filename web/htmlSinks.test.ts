// What the page's policy forbids is found in what is built, and throws in tests as it would in a browser.
import { expect, test } from "vitest";

import { htmlSinksIn } from "./htmlSinks";

test.each([
  "element.innerHTML=text",
  "element.outerHTML += text",
  "frame.srcdoc = text",
  "element.insertAdjacentHTML('beforeend', text)",
  "range.createContextualFragment(text)",
  "new DOMParser().parseFromString(text, 'text/html')",
  "element.setHTMLUnsafe(text)",
  "document.write(text)",
  "new Function(text)",
  "eval(text)",
])("%s is found", (code) => {
  expect(htmlSinksIn([["/node_modules/some/index.js", `a;${code};b`]])).toHaveLength(1);
});

test("reading is none, and neither is a name that only sounds like one", () => {
  const code = "copy(table.outerHTML); if (a.innerHTML === b) medieval(c); case `innerHTML`: x.eval(y)";
  expect(htmlSinksIn([["/node_modules/some/index.js", code]])).toEqual([]);
});

test("the browser's build of a package that sets HTML is found", async () => {
  const { readFileSync } = await import("node:fs");
  const path = "node_modules/decode-named-character-reference/index.dom.js";
  expect(htmlSinksIn([[path, readFileSync(path, "utf8")]])).toHaveLength(1);
});

test("tests run under the page's policy", () => {
  const element = document.createElement("div");
  expect(() => (element.innerHTML = "<b>1</b>")).toThrow(TypeError); // eslint-disable-line no-restricted-properties
  expect(() => element.insertAdjacentHTML("beforeend", "<b>1</b>")).toThrow(TypeError);
  expect(() => document.write("<b>1</b>")).toThrow(TypeError);
  expect(() => element.setAttribute("onclick", "alert(1)")).toThrow(TypeError);
  expect(() => new Range().createContextualFragment("<b>1</b>")).toThrow(TypeError);
  element.setAttribute("title", "allowed");
  expect(element.title).toBe("allowed");
});
