// What is kept beside the log comes back into the call that it was cut out of.
import { expect, test } from "vitest";

import type { ToolCall } from "./transcript";
import { isLongChange, pictureBody, textBodies, withBodies } from "./bodies";

const hash = (sign: string) => sign.repeat(64);

const call: ToolCall = {
  type: "tool",
  tool: 1,
  callId: "c1",
  title: "Do it",
  name: null,
  kind: "other",
  status: "completed",
  content: [
    { type: "terminal", command: "make", output: "é𝄞 between head end" },
    { type: "image", mimeType: "image/png", data: "" },
    { type: "diff", path: "a.rs", oldText: "o", newText: "n" },
  ],
  locations: [],
  input: { content: "be" },
  output: null,
  bodies: [
    { head: 4, bytes: 50_000, sha256: hash("2") },
    { start: 12, head: 4, bytes: 60_000, sha256: hash("3") },
    { item: 1, bytes: 200_000, sha256: hash("a") },
    { of: "old_text", item: 2, head: 1, bytes: 40_000, sha256: hash("4") },
    { of: "new_text", item: 2, head: 1, bytes: 41_000 },
    { of: "input", bytes: 40_000, sha256: hash("1") },
  ],
};

test("texts come back where their heads stood, and what is not kept is mentioned", () => {
  const texts = new Map([
    [hash("2"), "é𝄞 and all "],
    [hash("3"), "head and all"],
    [hash("4"), "old text"],
    [hash("1"), '{"content":"beginning and end"}'],
  ]);
  const whole = withBodies(call, texts, () => "[…]");
  expect(whole.content[0]).toEqual({ type: "terminal", command: "make", output: "é𝄞 and all between head and all end" });
  expect(whole.content[2]).toEqual({ type: "diff", path: "a.rs", oldText: "old text", newText: "n[…]" });
  expect(whole.input).toEqual({ content: "beginning and end" });
  expect(whole.bodies?.map(({ bytes }) => bytes)).toEqual([200_000, 41_000]);
});

test("without them each gap is marked", () => {
  const { content } = withBodies(call, new Map(), ({ bytes }) => `[${bytes}]`);
  expect(content[0]).toMatchObject({ output: "é𝄞 [50000]between head[60000] end" });
});

test("of a beginning only whole lines are shown", () => {
  const long: ToolCall = { ...call, content: [{ type: "text", text: "first 111\nsecond 2" }], bodies: [{ head: 18, bytes: 50_000, sha256: hash("2") }] };
  const { content } = withBodies(long, new Map(), (_, head) => `[after ${head}]`);
  expect(content[0]).toMatchObject({ text: "first 111[after 9]" });
});

test("pictures are read by themselves", () => {
  expect(textBodies(call)).toHaveLength(5);
  expect(pictureBody(call, 1)?.bytes).toBe(200_000);
  expect(isLongChange(call, 2)).toBe(true);
  expect(isLongChange(call, 0)).toBe(false);
});
