// The knot: what moves in it.
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { KnotShape } from "./Knot";
import { Knot } from "./Knot";

afterEach(cleanup);

const SHAPES: readonly KnotShape[] = ["solid", "breathing", "hollow", "cut", "crossed", "retied", "ahead", "asking", "stalled", "run", "offered", "taken"];

test("what moves is a picture of its own, so that nothing is drawn anew for it", () => {
  const moving = SHAPES.flatMap((shape) => {
    const { container } = render(<Knot shape={shape} />);
    return [...container.querySelectorAll("[class*=animate-]")].map(({ tagName, parentElement }) => `${shape}: ${tagName} in ${parentElement?.tagName}`);
  });
  expect(moving).toEqual(["breathing: svg in SPAN", "breathing: svg in SPAN", "asking: svg in SPAN"]);
});
