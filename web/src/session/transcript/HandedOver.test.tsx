// What stands between two turns of different agents.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { HandedOver } from "./HandedOver";

afterEach(cleanup);

test("each hand-over is told with both names, and hidden characters are seen", () => {
  const handOvers = [
    { after: 1, from: "guide", to: "co\u202Edex" },
    { after: 1, from: "co\u202Edex", to: "claude" },
  ];
  const { container } = render(<HandedOver handOvers={handOvers} last={false} broken={false} />);
  expect(screen.getAllByRole("note").map((note) => note.textContent)).toEqual([
    "Handed over from guide to co⟨U+202E⟩dex.",
    "Handed over from co⟨U+202E⟩dex to claude.",
  ]);
  expect(container.querySelector(".thread-line:not(.thread-line-loose)")).not.toBeNull();
  cleanup();
  render(<HandedOver handOvers={[{ after: 1, from: null, to: "claude" }]} last={false} broken={false} />);
  expect(screen.getByRole("note").textContent).toBe("Handed over to claude.");
  cleanup();
  // Below a turn that was broken off there is no thread to draw.
  const broken = render(<HandedOver handOvers={handOvers.slice(1)} last broken />);
  expect(broken.container.querySelector(".thread-line")).toBeNull();
});
