// Places in a transcript and their names.
import { expect, test, vi } from "vitest";

import { leavePlace, onSeek, placeHref, placeOf, seek } from "./place";

test.each([
  ["#t12", { turn: 12, tool: null }],
  ["#t12.3", { turn: 12, tool: 3 }],
  ["#t4.out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958", { turn: 4, tool: null, shown: { id: "out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958", lines: null } }],
  ["#t4.out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958.L12", { turn: 4, tool: null, shown: { id: "out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958", lines: { first: 12, last: 12 } } }],
  ["#t4.out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958.L12-20", { turn: 4, tool: null, shown: { id: "out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958", lines: { first: 12, last: 20 } } }],
  ["#t4.out_1", null],
  ["#t4.out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958.L", null],
  ["", null],
  ["#t", null],
  ["#t1.", null],
  ["#t1.2.3", null],
  ["#code=t1", null],
])("%s", (hash, place) => {
  expect(placeOf(hash)).toEqual(place);
  if (place !== null) {
    expect(placeHref(place)).toBe(hash);
  }
});

test("a place can be asked for again", () => {
  const found = vi.fn();
  const stop = onSeek(found);
  seek({ turn: 1, tool: 2 });
  seek({ turn: 1, tool: 2 });
  stop();
  seek({ turn: 1, tool: 3 });
  expect(found.mock.calls).toEqual([[{ turn: 1, tool: 2 }], [{ turn: 1, tool: 2 }]]);
});

test("a place that was left is no longer in the address, and what else is there stays", () => {
  history.replaceState(null, "", "/s/one?applet=x#t12");
  leavePlace();
  expect(location.pathname + location.search + location.hash).toBe("/s/one?applet=x");
  history.replaceState(null, "", "/s/one#new=/w");
  leavePlace();
  expect(location.hash).toBe("#new=/w");
});
