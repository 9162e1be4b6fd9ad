// Which of the turns that are drawn is the one that is read.
import { afterEach, expect, test } from "vitest";

import { turnInView } from "./useTurnInView";

afterEach(() => document.body.replaceChildren());

/** A window of 400 px, 100 px down the page, with articles of 200 px each from `top` on. */
function draw(top: number, ...articles: Partial<Record<"id" | "session" | "turn", string>>[]): HTMLElement {
  const at = (element: HTMLElement, y: number, height: number) => {
    element.getBoundingClientRect = () => ({ top: y, bottom: y + height, height }) as DOMRect;
    return element;
  };
  const log = at(document.createElement("div"), 100, 400);
  log.setAttribute("role", "log");
  Object.defineProperties(log, { scrollHeight: { value: 5_000 }, clientHeight: { value: 400 }, scrollTop: { value: 0 } });
  for (const [index, { id = "", session, turn }] of articles.entries()) {
    const article = at(document.createElement("article"), top + 200 * index, 200);
    article.id = id;
    Object.assign(article.dataset, session === undefined ? {} : { session, turn });
    log.append(article);
  }
  document.body.append(log);
  return document.body;
}

const above = (turn: string) => ({ session: "above", turn });

test("a turn of a session above the open one is read where it is in view", () => {
  expect(turnInView(draw(50, above("6"), { id: "t1" }, { id: "t2" }), null)).toEqual({ past: "above", turn: 6 });
});

test("further down it is one of the open session", () => {
  expect(turnInView(draw(-20, above("6"), { id: "t1" }, { id: "t2" }), null)).toEqual({ past: null, turn: 1 });
});

test("the turn that was asked for is one of the open session, whatever is beside it", () => {
  expect(turnInView(draw(50, above("2"), { id: "t1" }, { id: "t2" }), 2)).toEqual({ past: null, turn: 2 });
});

test("out of view there is none", () => {
  expect(turnInView(draw(600, above("1"), { id: "t1" }), null)).toBeNull();
});
