// A session in the list: who needs the person says so first, and every state has a word and a shape of its own.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { ConnectionNotice } from "../app/FrameContext";
import { inApp } from "../app/inApp";
import type { SessionRow as Row, SessionState } from "../wire/names";
import { SessionRow } from "./SessionRow";

const AT = "2026-01-02T03:04:05.006Z";
const row: Row = {
  id: "s",
  agent: "guide",
  cwd: "/home/ada/engine",
  project: "/home/ada/engine",
  state: "idle",
  title: "Mend the loom",
  turns: 1,
  unobserved: false,
  createdAt: AT,
  activeAt: AT,
  meta: { context: {}, name: "" },
  facts: {} as never,
};

/** What a sign is made of, its colour aside. */
function drawn(sign: Element | null): string {
  return [...(sign?.querySelectorAll("*") ?? [])].map(({ tagName, attributes }) => `${tagName} ${[...attributes].map(({ value }) => value).join(" ")}`).join("; ");
}

function show(change: Partial<Row>, work: string | null = null) {
  render(<SessionRow row={{ ...row, ...change }} work={work} current={false} now={Date.parse(AT)} />, inApp({ http: {} }));
  const link = screen.getByRole("link");
  return { words: link.lastElementChild?.textContent, shape: drawn(link.querySelector("svg")) };
}

afterEach(cleanup);

test.each([
  [{ state: "needs_you", unobserved: true }, "Needs you · Unseen · guide · engine"],
  [{ state: "needs_you" }, "Needs you · guide · engine"],
  [{ state: "running" }, "Running · guide · engine"],
  [{ state: "unresponsive" }, "Not answering · guide · engine"],
  [{ state: "idle", unobserved: true }, "Unseen · guide · engine"],
  [{ state: "idle" }, "guide · engine"],
] satisfies [Partial<Row>, string][])("%j reads %s", (change, words) => {
  expect(show(change).words).toBe(words);
});

test("needing the person, running, unseen, silent, broken, failed and at rest differ by shape", () => {
  const states: SessionState[] = ["needs_you", "running", "unresponsive", "interrupted", "failed", "idle"];
  const shapes = [...states.map((state) => ({ state })), { state: "idle" as const, unobserved: true }].map((change) => {
    const { shape } = show(change);
    cleanup();
    return shape;
  });
  expect(new Set(shapes).size).toBe(shapes.length);
});

test("without a connection it is told as it was last seen, and looks like nothing that runs", () => {
  const shown = (change: Partial<Row>) => {
    render(
      <ConnectionNotice value="lost">
        <SessionRow row={{ ...row, ...change }} work={null} current={false} now={Date.parse(AT)} />
      </ConnectionNotice>,
      inApp({ http: {} }),
    );
    const link = screen.getByRole("link");
    const seen = { words: link.lastElementChild?.textContent, shape: drawn(link.querySelector("svg")) };
    cleanup();
    return seen;
  };
  const rest = shown({ state: "idle" });
  expect(rest.words).toBe("guide · engine");
  expect(shown({ state: "running" })).toEqual({ words: "Last seen: Running · guide · engine", shape: rest.shape });
  expect(shown({ state: "needs_you" })).toEqual({ words: "Last seen: Needs you · guide · engine", shape: rest.shape });
});

test("what the agent means to do stands under the title while it runs, in one line", () => {
  const meta = { ...row.meta, currentIntent: "Weaving\n<b>the</b> selvedge" };
  show({ state: "running", meta });
  expect(screen.getByText("Weaving <b>the</b> selvedge")).toBeTruthy();
  cleanup();
  show({ state: "idle", meta });
  expect(screen.queryByText(/selvedge/)).toBeNull();
});

test("a session of a work is marked with its name", () => {
  show({}, "Loom\nand more");
  expect(screen.getByText("Loom and more")).toBeTruthy();
});

test("tags are beside what is cut where the line is too long, not at its end", () => {
  show({ tags: ["bug", "loom"] }, "A piece of work with a long name");
  const tags = screen.getByTitle("#bug #loom");
  expect(tags.textContent).toBe("#bug #loom");
  expect(tags.previousElementSibling?.textContent).toContain("A piece of work");
  expect(tags.previousElementSibling?.classList.contains("truncate")).toBe(true);
  expect(tags.classList.contains("shrink-0")).toBe(true);
});
