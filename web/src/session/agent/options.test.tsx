// The agent's options: chosen, waiting to be in force, remembered, and applied to a new session.
import { act, cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer, Http } from "../../api/http";
import { inApp } from "../../app/inApp";
import type { AgentOption } from "../../wire/names";
import { OptionSelects } from "./OptionSelects";
import { rememberOption } from "./rememberedOptions";
import { useOptions } from "./useOptions";

const PLACE = { project: "/srv/work", agent: "claude" };

function optionsWith(values: { mode?: string; fast?: string } = {}): AgentOption[] {
  return [
    { id: "fast", name: "Fast", category: "other", value: values.fast ?? "false", choices: [], description: "Less thought." },
    { id: "model", name: "Model", category: "model", value: "opus", choices: [{ value: "opus", name: "Opus" }] },
    {
      id: "mode",
      name: "Mode",
      category: "mode",
      value: values.mode ?? "ask",
      choices: [
        { value: "ask", name: "Ask" },
        { value: "plan", name: "Pl\u202Ean" },
      ],
    },
  ];
}

interface ShownProps {
  options: AgentOption[];
  ready?: boolean;
  fresh?: boolean;
}

function Shown({ options, ready = true, fresh = false }: ShownProps) {
  const chosen = useOptions({ session: "s", place: PLACE, options, ready, fresh });
  return (
    <>
      <p>{chosen.note?.words}</p>
      <OptionSelects options={chosen} ready={ready} />
    </>
  );
}

function fake(answer: Answer<{ success: boolean }> = { ok: true, value: { success: true } }) {
  const setOption = vi.fn((_session: string, _option: string, _wish: { value: string }) => Promise.resolve(answer));
  return { http: { setOption } as unknown as Http, asked: () => setOption.mock.calls.map(([, option, { value }]) => [option, value]) };
}

const mode = () => screen.getByRole<HTMLSelectElement>("combobox", { name: "Mode" });

beforeEach(() => {
  localStorage.clear();
});

afterEach(cleanup);

test("mode and model come first; a choice shows at once and waits until the agent has said so", async () => {
  const { http, asked } = fake();
  const options = optionsWith();
  const view = render(<Shown options={options} />, inApp({ http }));
  expect(screen.getAllByRole("combobox").map((select) => select.getAttribute("aria-label"))).toEqual(["Mode", "Model"]);
  expect(screen.getByRole("option", { name: "Pl⟨U+202E⟩an" })).toBeTruthy();
  await userEvent.selectOptions(mode(), "plan");
  expect([mode().value, mode().getAttribute("aria-busy")]).toEqual(["plan", "true"]);
  expect(asked()).toEqual([["mode", "plan"]]);
  view.rerender(<Shown options={optionsWith({ mode: "plan" })} />);
  expect([mode().value, mode().getAttribute("aria-busy")]).toEqual(["plan", "false"]);
  // What another device chose later is not held up by what was chosen here.
  view.rerender(<Shown options={optionsWith({ mode: "ask" })} />);
  expect([mode().value, mode().getAttribute("aria-busy")]).toEqual(["ask", "false"]);
});

test("a choice that is refused goes back, in words, and is not remembered", async () => {
  const { http } = fake({ ok: false, failure: { kind: "refused", status: 409, code: "agent_not_ready", message: "the agent is not there" } });
  render(<Shown options={optionsWith()} />, inApp({ http }));
  await userEvent.selectOptions(mode(), "plan");
  await screen.findByText("Mode stays as it was. The agent is not there.");
  expect(mode().value).toBe("ask");
  expect(localStorage.length).toBe(0);
});

test("others are behind More, a switch among them", async () => {
  const { http, asked } = fake();
  render(<Shown options={optionsWith()} />, inApp({ http }));
  await userEvent.click(screen.getByRole("button", { name: "More" }));
  await userEvent.click(screen.getByRole("checkbox", { name: "Fast" }));
  expect(asked()).toEqual([["fast", "true"]]);
});

test("a new session starts with what was chosen last in such a place, once and if it is offered", async () => {
  const first = fake();
  const one = render(<Shown options={optionsWith()} />, inApp({ http: first.http }));
  await userEvent.selectOptions(mode(), "plan");
  one.unmount();
  rememberOption(PLACE, "model", "gone");
  rememberOption({ ...PLACE, project: "/elsewhere" }, "fast", "true");

  const { http, asked } = fake();
  const options = optionsWith();
  const view = render(<Shown options={options} ready={false} fresh />, inApp({ http }));
  expect(asked()).toEqual([]);
  view.rerender(<Shown options={options} fresh />);
  await screen.findByText("As last time in this project. Mode: Pl⟨U+202E⟩an.");
  expect(asked()).toEqual([["mode", "plan"]]);
  view.rerender(<Shown options={optionsWith()} fresh />);
  await act(async () => undefined);
  await waitFor(() => expect(asked()).toEqual([["mode", "plan"]]));
});

test("an earlier session is left as it is", async () => {
  rememberOption(PLACE, "mode", "plan");
  const { http, asked } = fake();
  render(<Shown options={optionsWith()} />, inApp({ http }));
  await act(async () => undefined);
  expect(asked()).toEqual([]);
});

test("where there is no room, one button says what is chosen and opens all of them", async () => {
  const { http, asked } = fake();
  render(<Shown options={optionsWith({ mode: "plan" })} />, inApp({ http }));
  await userEvent.click(screen.getByRole("button", { name: "Options: Pl⟨U+202E⟩an Opus" }));
  const sheet = within(screen.getByRole("group", { name: "Options" }));
  expect(sheet.getByRole("checkbox", { name: "Fast" })).toBeTruthy();
  await userEvent.selectOptions(sheet.getByRole("combobox", { name: "Mode" }), "ask");
  expect(asked()).toEqual([["mode", "ask"]]);
});
