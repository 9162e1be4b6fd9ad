// The answers of a question: what is said of their keys, and how the seldom ones are put away.
import { readFileSync } from "node:fs";

import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { PermissionKind } from "../../wire/names";
import type { AnswerKey, OfferedAnswer } from "./answers";
import { PermissionAnswers } from "./PermissionAnswers";

afterEach(cleanup);

function answer(words: string, kind: PermissionKind, key: AnswerKey | null): OfferedAnswer {
  return { option: { id: words, name: words, kind }, remember: false, key, words, detail: null };
}

const ALLOW = answer("Allow once", "allow_once", "y");
const ALWAYS = answer("Always allow", "allow_always", "a");
const REJECT = answer("Reject", "reject_once", "n");
const NEVER = answer("Always reject", "reject_always", null);

function show(shown: OfferedAnswer[], others: OfferedAnswer[] = []) {
  const { container } = render(<PermissionAnswers answers={{ shown, others }} disabled={false} onChoose={vi.fn()} />);
  return [...container.querySelectorAll(".key-hint > p")].map((line) => line.textContent);
}

test.each<[OfferedAnswer[], string | null]>([
  [[ALLOW, ALWAYS, REJECT], "y, a or n"],
  [[ALLOW, REJECT], "y or n"],
  [[REJECT], "n"],
  [[NEVER], null],
])("the line about keys names those that answer, and what to press first while one writes, %#", (answers, keys) => {
  const sentences = [`Or press ${keys}.`, `You are writing: to answer by key, press Esc first, then ${keys}.`];
  expect(show(answers)).toEqual(keys === null ? [] : sentences);
});

test.each(["textarea", "input", "select", "div"])("in a field one writes, as the keys do nothing there: %s", (name) => {
  const field = document.createElement(name);
  if (name === "div") {
    field.setAttribute("contenteditable", "true");
  }
  const rules = [...readFileSync("src/session/items/PermissionCard.css", "utf8").matchAll(/:has\(([^)]*)\)/g)].map(([, fields = ""]) => fields.split(", "));
  expect(rules).toHaveLength(3);
  expect(rules.flat().every((selector) => selector.endsWith(":focus"))).toBe(true);
  // Without the focus: in the test's browser no `select` matches it.
  expect(rules.map((fields) => field.matches(fields.map((selector) => selector.replace(":focus", "")).join(", ")))).toEqual([true, true, true]);
});

test.each(["textarea", "input", "select"])("Escape leaves a field, as the line about keys says: %s", async (name) => {
  show([ALLOW, REJECT]);
  const field = document.body.appendChild(document.createElement(name));
  const dialog = document.body.appendChild(document.createElement("dialog"));
  const inDialog = dialog.appendChild(document.createElement(name));
  field.focus();
  await userEvent.keyboard("{Escape}");
  expect(document.activeElement).toBe(document.body);
  // A dialog closes by it; the field in it keeps the focus until then.
  inDialog.focus();
  await userEvent.keyboard("{Escape}");
  expect(document.activeElement).toBe(inDialog);
  field.remove();
  dialog.remove();
});

test("Escape puts the other answers away, and then it does not count for stopping the turn", async () => {
  show([ALLOW, REJECT], [NEVER]);
  const heard = vi.fn((event: KeyboardEvent) => event.defaultPrevented);
  window.addEventListener("keydown", heard);
  const others = screen.getByRole("button", { name: "Other answers" });
  await userEvent.click(others);
  screen.getByRole("button", { name: "Always reject" }).focus();
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("button", { name: "Always reject" })).toBeNull();
  expect(document.activeElement).toBe(others);
  await userEvent.click(others);
  // Wherever the focus is, but not in a field, which has its own use for the key.
  const field = document.body.appendChild(document.createElement("textarea"));
  field.focus();
  await userEvent.keyboard("{Escape}");
  expect(others.getAttribute("aria-expanded")).toBe("true");
  field.remove();
  await userEvent.keyboard("{Escape}{Escape}");
  expect(others.getAttribute("aria-expanded")).toBe("false");
  expect(heard.mock.results.map(({ value }) => value as boolean)).toEqual([true, false, true, false]);
  window.removeEventListener("keydown", heard);
});
