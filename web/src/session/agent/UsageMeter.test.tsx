// How full the agent's window is: nothing is said where nothing is known.
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { Usage } from "../../wire/names";
import { UsageLine, UsageMeter } from "./UsageMeter";

afterEach(cleanup);

test.each([
  [{ used: 0, size: 200_000 }, ""],
  [{ used: 5, size: 0 }, ""],
  [{ used: 400, size: 200_000 }, "< 1 %"],
  [{ used: 50_000, size: 200_000 }, "25 %"],
  [{ used: 300_000, size: 200_000 }, "100 %"],
])("%j reads “%s”", (usage, words) => {
  const { container } = render(<UsageMeter usage={usage as Usage} />);
  expect(container.textContent).toBe(words);
});

test("of less than one percent nothing is drawn along the edge, which would look like a flaw", () => {
  const meter = render(<UsageLine usage={{ used: 400, size: 200_000 } as Usage} />).container.firstElementChild;
  expect(meter?.getAttribute("aria-valuetext")).toBe("< 1 % of the context window");
  expect(meter?.querySelector("span")?.style.width).toBe("0%");
});

test("without a number there is no line along the edge either", () => {
  expect(render(<UsageLine usage={{ used: 0, size: 200_000 } as Usage} />).container.firstChild).toBeNull();
});
