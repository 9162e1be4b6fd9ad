// Parts whose code comes later.
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { latePart, useLatePart } from "./latePart";

afterEach(cleanup);

test("it is asked for when it is wanted, once for all, and again after it failed", async () => {
  const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error("offline")).mockResolvedValue("come");
  const part = latePart(load);
  const Shown = ({ wanted }: { wanted: boolean }) => {
    const late = useLatePart(part, wanted);
    return late.kind === "failed" ? <button onClick={late.retry}>again</button> : <p>{late.kind === "ready" ? late.part : "…"}</p>;
  };
  const view = render(<Shown wanted={false} />);
  expect(load).not.toHaveBeenCalled();
  view.rerender(<Shown wanted />);
  const again = await screen.findByRole("button");
  act(() => again.click());
  await screen.findByText("come");
  render(<Shown wanted />);
  expect(screen.getAllByText("come")).toHaveLength(2);
  expect(load).toHaveBeenCalledTimes(2);
});
