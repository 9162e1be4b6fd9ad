// Tests which prompts begin with a command that the agent does not know.
import { expect, test } from "vitest";

import { unknownCommand } from "./unknownCommand";

const told = ["plan", "mcp:review"].map((name) => ({ name, description: "", hint: null }));

test.each([
  ["/req my-spec", "req"],
  ["/req", "req"],
  ["  /planning ahead", null],
  ["/plan it", null],
  ["/mcp:review", null],
  ["plan it with /req", null],
  ["/etc/hosts is wrong", null],
  ["/ alone", null],
  ["", null],
])("%j: %j", (prompt, unknown) => {
  expect(unknownCommand(prompt, told)).toBe(unknown);
});

test("an agent that has told of none may know any", () => {
  expect(unknownCommand("/req my-spec", [])).toBeNull();
});
