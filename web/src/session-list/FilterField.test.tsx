// The field above the list: filters are completed by arrows, Tab or a press, and plain words are left alone.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";

import { completionsOf } from "./filter";
import { FilterField } from "./FilterField";

function Field() {
  const [text, setText] = useState("");
  return <FilterField text={text} disabled={false} onText={setText} />;
}

const options = () => screen.queryAllByRole("option").map((option) => option.querySelector("code")?.textContent);

afterEach(cleanup);

test.each([
  ["i", []],
  ["is", ["is:archived", "is:pinned", "is:unseen"]],
  ["issue", []],
  ["upload is:p", ["is:pinned"]],
  ["-is:", ["-is:archived", "-is:pinned", "-is:unseen"]],
  ["is:archived", []],
  ["is:archived ", []],
] as [string, string[]][])("%j is completed with %j", (text, labels) => {
  expect(completionsOf(text).map(({ label }) => label)).toEqual(labels);
});

test("Tab completes a filter that is begun, arrows and Enter choose one, a press takes one", async () => {
  render(<Field />);
  const field = screen.getByRole<HTMLInputElement>("searchbox", { name: "Filter the list" });
  await userEvent.type(field, "upload is:a");
  expect(options()).toEqual(["is:archived"]);
  await userEvent.tab();
  expect(field.value).toBe("upload is:archived ");
  expect(document.activeElement).toBe(field);
  await userEvent.type(field, "is:{ArrowDown}{ArrowDown}");
  expect(field.getAttribute("aria-activedescendant")).toBe(screen.getByRole("option", { selected: true }).id);
  await userEvent.keyboard("{Enter}");
  expect(field.value).toBe("upload is:archived is:pinned ");
  await userEvent.type(field, "is:u");
  await userEvent.click(screen.getByRole("option"));
  expect(field.value).toBe("upload is:archived is:pinned is:unseen ");
});

test("Escape closes the list of filters first, then empties the field", async () => {
  render(<Field />);
  const field = screen.getByRole<HTMLInputElement>("searchbox", { name: "Filter the list" });
  await userEvent.type(field, "is:{Escape}");
  expect(options()).toEqual([]);
  expect(field.value).toBe("is:");
  await userEvent.keyboard("{Escape}");
  expect(field.value).toBe("");
});

test("in a plain word Tab goes on", async () => {
  render(<Field />);
  await userEvent.type(screen.getByRole("searchbox"), "is");
  await userEvent.tab();
  expect(document.activeElement).toBe(document.body);
});
