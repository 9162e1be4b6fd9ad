// The card of a command that still runs.
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { LiveOutputItem } from "../../state/liveOutput";
import { LiveOutput } from "./LiveOutput";

afterEach(cleanup);

const item = (text: string, missing = false): LiveOutputItem => ({ type: "live_output", id: "out_1", command: "cargo \u202Ebuild", text, missing });

test("it shows what was printed as a terminal would, and what is missing", async () => {
  const view = render(<LiveOutput item={item("\x1b[32mok\x1b[0m\n10 %\r20 %")} />);
  await waitFor(() => expect(view.container.querySelector("code")?.textContent).toBe("ok\n20 %\n"));
  expect(view.container.querySelector(".ansi-fg-2")?.textContent).toBe("ok");
  expect(view.container.querySelector("figcaption")?.textContent).toBe("cargo ⟨U+202E⟩buildRunning…Open");
  view.rerender(<LiveOutput item={item("more", true)} />);
  screen.getByText(/Earlier lines follow when it is done\.$/);
});

test("it follows its end until the reader scrolls back, and again from the end on", async () => {
  const text = "line\n".repeat(400);
  const view = render(<LiveOutput item={item(text)} />);
  const region = screen.getByRole("region");
  await waitFor(() => expect(region.textContent).not.toBe(""));
  let height = 1_000;
  Object.defineProperties(region, { scrollHeight: { get: () => height }, clientHeight: { value: 400 } });
  const grow = () => {
    height += 200;
    view.rerender(<LiveOutput item={item(`${text}${height}\n`)} />);
    return region.scrollTop;
  };
  expect(grow()).toBe(1_200);
  region.scrollTop = 300;
  fireEvent.scroll(region);
  expect(grow()).toBe(300);
  region.scrollTop = height - 400;
  fireEvent.scroll(region);
  expect(grow()).toBe(1_600);
  // A few hundred lines are drawn, however many there are.
  expect(region.textContent?.split("\n").length).toBeLessThan(310);
});
