// A sheet lies beside its anchor, in the window, and never over it.
import { expect, test } from "vitest";

import type { Box, Side } from "./besideAnchor";
import { besideAnchor } from "./besideAnchor";

const view = { width: 400, height: 300 };
const row = (top: number, left = 10, right = 100): Box => ({ left, right, top, bottom: top + 20 });

test.each([
  ["below", row(40), { width: 80, height: 100 }, "10,66"],
  ["below", row(260), { width: 80, height: 100 }, "10,154"],
  ["end", row(40, 300, 390), { width: 120, height: 100 }, "270,66"],
  ["right", row(40), { width: 80, height: 100 }, "106,40"],
  ["right", row(260), { width: 80, height: 100 }, "106,192"],
  ["right", row(40, 10, 390), { width: 80, height: 100 }, "10,66"],
] satisfies [Side, Box, { width: number; height: number }, string][])("%s of %j", (side, anchor, sheet, place) => {
  const { left, top } = besideAnchor(anchor, sheet, view, side);
  expect(`${left},${top}`).toBe(place);
});

test("whatever its size and place, it does not cover its anchor", () => {
  for (const side of ["below", "end", "right"] as const) {
    for (let top = 0; top <= 280; top += 20) {
      for (const height of [40, 150, 290, 900]) {
        const anchor = row(top, 10, 390);
        const place = besideAnchor(anchor, { width: 120, height }, view, side);
        const bottom = place.top + Math.min(height, place.maxHeight);
        expect(bottom <= anchor.top || place.top >= anchor.bottom, `${side} at ${top}, ${height} high`).toBe(true);
      }
    }
  }
});
