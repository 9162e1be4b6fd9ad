// What is asked while no turn runs: a card that needs you, and one line once it is settled.
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { Aside } from "../../state/transcript";
import { AskedBetween } from "./AskedBetween";

const AT = "2026-01-02T03:04:05.006Z";
const aside: Aside = {
  after: 2,
  request: 7,
  title: "Run it again?",
  kind: "execute",
  subject: "make watch",
  options: [
    { id: "y", name: "Yes", kind: "allow_once" },
    { id: "n", name: "No", kind: "reject_once" },
  ],
  answer: null,
};

function show(asides: Aside[], open = true) {
  const actions = { answer: vi.fn(() => Promise.resolve({ ok: true as const, value: {} })), stop: vi.fn(), readLarge: vi.fn() };
  render(<AskedBetween asides={asides} first last open={open} answeredAt={new Map([[6, AT]])} actions={actions} now={Date.parse(AT)} />);
  return { actions, section: screen.getByRole("region", { name: "Asked while no turn was running" }) };
}

afterEach(cleanup);

test("what waits is answered here, by its own number", async () => {
  const { actions, section } = show([aside]);
  expect(within(section).getByRole("heading", { name: /^Needs you/ })).toBeTruthy();
  expect(within(section).getByRole("region", { name: "Exactly this" }).textContent).toBe("make watch");
  await userEvent.click(within(section).getByRole("button", { name: /^Allow once/ }));
  expect(actions.answer).toHaveBeenCalledWith(7, expect.objectContaining({ option: "y" }));
});

test("what is settled is one line, beside what still waits", () => {
  const { section } = show([{ ...aside, request: 6, answer: { option: "n", kind: "reject_once", by: { type: "person", name: "phone" } } }, aside]);
  expect(section.textContent).toContain("Rejected by phone");
  expect(within(section).getAllByRole("heading", { name: /^Needs you/ })).toHaveLength(1);
});

test("what nobody can answer any more says so", () => {
  const { section } = show([aside], false);
  expect(section.textContent).toContain("Not answered: it was withdrawn");
  expect(within(section).queryByRole("button", { name: /^Allow once/ })).toBeNull();
});
