// What a running command prints: shown in its turn until the output is stored, and bounded.
import { expect, test } from "vitest";

import type { Entry, FrameOf, Output } from "../wire/names";
import { applyFrames, INITIAL_STATE } from "./app";
import type { Followed } from "./followed";
import { applyEntries, applyOutputPreview, beginFollow, caughtUp, NOT_READ, withPreviews } from "./followed";
import { addPrinted } from "./liveOutput";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";
const ID = "out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958";
const OTHER = "out_00000000000000000000000000000001";
const OUTPUT: Output = { id: ID, type: "terminal", mimeType: "text/plain", bytes: 8, sha256: "00", command: "make", lines: 2 };

const printed = (offset: number, text: string, output = ID): FrameOf<"output_preview"> => ({ type: "output_preview", session: SESSION, turn: 1, output, command: "make", offset, text });

function follow(from: Followed, ...events: object[]): Followed {
  return events.reduce((followed: Followed, event) => {
    const seq = followed.seq + 1;
    return applyEntries(followed, [{ cursor: `1f.${seq}`, entry: { ...event, seq, at: "2026-01-02T03:04:05.006Z" } as Entry }]);
  }, from);
}

const running = follow(caughtUp(NOT_READ), { type: "turn.started", data: { turn: 1, interactionId: SESSION } });
const shown = (followed: Followed) => {
  const turn = followed.transcript.turns.at(-1);
  return turn === undefined ? [] : withPreviews(turn, followed.previews).items.map((item) => (item.type === "live_output" ? [item.text, item.missing] : item.type));
};
const print = (followed: Followed, ...frames: FrameOf<"output_preview">[]) => frames.reduce(applyOutputPreview, followed);

test("what is printed grows, and gives way to what is stored", () => {
  let followed = print(running, printed(0, "one\n"), printed(4, "two\n"));
  expect(shown(followed)).toEqual([["one\ntwo\n", false]]);
  followed = follow(followed, { type: "output.stored", data: { turn: 1, output: OUTPUT } });
  expect(shown(followed)).toEqual(["output"]);
  expect(followed.previews.size).toBe(0);
  expect(print(followed, printed(8, "late"))).toBe(followed);
});

test("two commands at once are two cards", () => {
  const followed = print(running, printed(0, "a"), printed(0, "b", OTHER));
  expect(shown(followed)).toEqual([["a", false], ["b", false]]);
  expect(shown(follow(followed, { type: "output.stored", data: { turn: 1, output: OUTPUT } }))).toEqual(["output", ["b", false]]);
});

test("what was not seen is said to be missing, and what comes twice is taken once", () => {
  expect(shown(print(running, printed(100, "later\n")))).toEqual([["later\n", true]]);
  expect(shown(print(running, printed(0, "one\n"), printed(10, "gap\n")))).toEqual([["gap\n", true]]);
  const once = print(running, printed(0, "größe\n"));
  expect(print(once, printed(0, "größe\n"))).toBe(once);
  expect(shown(print(once, printed(8, "!")))).toEqual([["größe\n!", false]]);
  // Bytes that are no text: the sign for them is longer than they are.
  expect(shown(print(running, printed(0, ""), printed(0, "\uFFFD\uFFFD"), printed(2, "text")))).toEqual([["\uFFFD\uFFFDtext", false]]);
});

test("only the end is kept, from the start of a line on", () => {
  const line = `${"x".repeat(99)}\n`;
  let live = addPrinted(null, printed(0, line));
  for (let lines = 1; lines < 5_000; lines++) {
    live = addPrinted(live, printed(lines * 100, line));
  }
  expect(live.item.text.length).toBeLessThan(64_100);
  expect([live.item.text.length % 100, live.item.missing, live.seen]).toEqual([0, true, 500_000]);
});

test("it goes with its turn, and with a follow that begins anew", () => {
  const followed = print(running, printed(0, "one\n"));
  expect(shown(follow(followed, { type: "turn.ended", data: { turn: 1, outcome: "cancelled" } }))).toEqual([]);
  expect(beginFollow(followed, { snapshot: { queue: [] } as never }).previews.size).toBe(0);
  expect(print(running, { ...printed(0, "early"), turn: 2 })).toBe(running);
});

test("its frames reach the session that they name", () => {
  const state = { ...INITIAL_STATE, followed: new Map([[SESSION, running]]) };
  const after = applyFrames(state, [printed(0, "one\n"), { ...printed(0, "else"), session: OTHER }]);
  expect([...after.followed.values()].map(shown)).toEqual([[["one\n", false]]]);
});
