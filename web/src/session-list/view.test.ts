// What the list is asked to show, and that a row is judged as the server judges it.
import { beforeEach, expect, test } from "vitest";

import type { SessionRow } from "../wire/names";
import type { Work } from "../wire/work";
import type { ListView } from "./view";
import { firstView, isFiltered, keepGrouping, matcherOf, queryOf } from "./view";

const works = new Map([["w", { id: "w", name: "Checkout" } as unknown as Work]]);
const row = { id: "a", title: "Flaky Upload", agent: "codex", project: "/home/ada/shop", state: "running", unobserved: false, tags: ["bug"], metaContextId: "w" } as unknown as SessionRow;

beforeEach(() => localStorage.clear());

test("the whole list is not asked for; a filter and what is archived are", () => {
  const view = firstView();
  expect(queryOf(view)).toBeNull();
  expect(queryOf({ ...view, shelf: "deleted" })).toBeNull();
  expect(queryOf({ ...view, shelf: "archived" })).toMatchObject({ archived: "only" });
  expect(queryOf({ ...view, text: " upload ", state: "unseen", tag: "bug" })).toMatchObject({ archived: "no", text: "upload", unobserved: true, tag: "bug" });
});

test.each([
  [{}, true],
  [{ text: "upload checkout" }, true],
  [{ text: "upload nothing" }, false],
  [{ text: "BUG codex" }, true],
  [{ state: "running" }, true],
  [{ state: "unseen" }, false],
  [{ agent: "claude" }, false],
  [{ project: "/home/ada/shop", tag: "bug" }, true],
  [{ tag: "bu" }, false],
  [{ shelf: "archived" }, false],
  [{ text: "is:pinned" }, false],
  [{ text: "-is:pinned upload" }, true],
  [{ text: "is:unseen" }, false],
  [{ text: "is:archived" }, false],
  [{ text: "is:mended" }, false],
] satisfies [Partial<ListView>, boolean][])("%j fits: %s", (change, expected) => {
  expect(matcherOf({ ...firstView(), ...change }, works)(row)).toBe(expected);
});

test("an archived row is listed among archived ones alone", () => {
  const archived = { ...row, archivedAt: "2026-11-18T12:00:00.000Z" };
  expect(matcherOf(firstView(), works)(archived)).toBe(false);
  expect(matcherOf({ ...firstView(), shelf: "archived" }, works)(archived)).toBe(true);
});

test("the grouping is kept, and one that is not known is the first", () => {
  keepGrouping("project");
  expect(firstView().grouping).toBe("project");
  localStorage.setItem("throughline.list.grouping", "moon");
  expect(firstView().grouping).toBe("day");
});

test("filters that are written are asked for, and one that is half written asks for nothing yet", () => {
  const asked = (text: string) => queryOf({ ...firstView(), text });
  expect(asked("upload is:archived")).toMatchObject({ archived: "only", text: "upload" });
  expect(asked("IS:Pinned -is:unseen")).toMatchObject({ archived: "no", pinned: true, unobserved: false, text: undefined });
  expect(queryOf({ ...firstView(), shelf: "archived", text: "-is:archived" })).toMatchObject({ archived: "no" });
  for (const text of ["is:", "is:arch", "-is:p"]) {
    expect(asked(text)).toBeNull();
    expect(isFiltered({ ...firstView(), text })).toBe(false);
  }
  expect(asked("is:mended")).toMatchObject({ text: "is:mended" });
  const archived = { ...row, archivedAt: "2026-11-18T12:00:00.000Z", pinnedAt: "2026-11-18T12:00:00.000Z" };
  expect(matcherOf({ ...firstView(), text: "is:archived is:pinned" }, works)(archived)).toBe(true);
});
