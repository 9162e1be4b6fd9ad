// What is left to do: the open steps, and that it is not known which are.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import { NOT_READ } from "../../state/followed";
import type { NextBlock } from "../../wire/blocks";
import { PlanTab } from "./PlanTab";

afterEach(cleanup);

const block = (id: string, state: string) => ({ id, state, label: `Step ${id}`, turn: 3 }) as NextBlock;

test("the open steps stand here, from one page; without an answer that is said", async () => {
  const answers: object[] = [{ ok: true, value: { blocks: [block("t3.n1", "open"), block("t3.n2", "used")], nextCursor: "9" } }, { ok: false, failure: { kind: "unreachable" } }];
  const nextSteps = vi.fn(() => Promise.resolve(answers.shift()));
  const view = render(<PlanTab session="s" followed={{ ...NOT_READ, nextSeq: 4 }} onJump={vi.fn()} />, inApp({ http: { nextSteps } }));
  await screen.findByText("Step t3.n1");
  expect(screen.queryByText("Step t3.n2")).toBeNull();
  expect(nextSteps).toHaveBeenCalledOnce();
  view.rerender(<PlanTab session="s" followed={{ ...NOT_READ, nextSeq: 5 }} onJump={vi.fn()} />);
  expect((await screen.findByRole("alert")).textContent).toBe("It is not known which next steps are open. The server did not answer.");
  expect(screen.getByText("Step t3.n1")).toBeTruthy();
});

test("where no step was ever offered, nothing is asked for", () => {
  render(<PlanTab session="s" followed={NOT_READ} onJump={vi.fn()} />, inApp({ http: {} }));
  screen.getByText(/stand here\.$/);
});
