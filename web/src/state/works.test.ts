// Pieces of work: how they become known, and when a session of one stands for itself.
import { expect, test } from "vitest";

import type { Work } from "../wire/work";
import { NO_WORKS, removeWork, takeFirstWorks, takeWorks, workOf } from "./works";

const AT = "2026-01-02T03:04:05.006Z";

function work(id: string, name: string): Work {
  return { id, name, project: "/home/ada/loom", sessionIds: ["s"], createdAt: AT, addedAt: AT };
}

test("what comes later of a work is what holds", () => {
  const works = takeWorks(takeWorks(NO_WORKS, [work("a", "Loom"), work("b", "Shuttle")]), [work("a", "Power loom")]);
  expect([...works.values()].map(({ name }) => name)).toEqual(["Power loom", "Shuttle"]);
  expect(takeWorks(works, [])).toBe(works);
});

test("the first page forgets the works that it does not name, but those of open sessions", () => {
  const known = takeWorks(NO_WORKS, [work("a", "Loom"), work("b", "Shuttle"), work("c", "Weft")]);
  expect([...takeFirstWorks(known, [work("c", "Weft"), work("d", "Warp")], ["b", "unheard of"]).keys()]).toEqual(["b", "c", "d"]);
});

test("a session whose work is not known stands for itself", () => {
  const works = takeWorks(NO_WORKS, [work("a", "Loom")]);
  expect(workOf(works, { metaContextId: "a" })?.name).toBe("Loom");
  expect(workOf(works, { metaContextId: "b" })).toBeNull();
  expect(workOf(works, { metaContextId: null })).toBeNull();
  expect(workOf(removeWork(works, "a"), { metaContextId: "a" })).toBeNull();
});
