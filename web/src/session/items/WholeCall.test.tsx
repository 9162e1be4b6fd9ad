// A call of which some is kept beside the log: the gap is marked, and all of it comes when it is asked for.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { ToolCall } from "../../state/transcript";
import { ItemsSessionContext } from "./ItemsSessionContext";
import { ToolBody } from "./ToolBody";

const sha256 = "2".repeat(64);
const body = vi.fn();

vi.mock(import("../../app/AppContext"), async (original) => ({ ...(await original()), useHttp: () => ({ body }) as never }));

const call: ToolCall = {
  type: "tool",
  tool: 1,
  callId: "c1",
  title: "Run make",
  name: null,
  kind: "execute",
  status: "completed",
  content: [{ type: "terminal", command: "make", output: "the first lines\n" }],
  locations: [],
  input: null,
  output: null,
  bodies: [{ head: 16, bytes: 100_000, sha256 }],
};

function show(shown: ToolCall) {
  render(
    <ItemsSessionContext value="s1">
      <ToolBody call={shown} title="Run make" commandInTitle={false} />
    </ItemsSessionContext>,
  );
}

afterEach(() => {
  cleanup();
  body.mockReset();
});

test("the beginning is shown with a mark, and all of it on a press", async () => {
  body.mockResolvedValue({ ok: true, value: new Blob(["the first lines\nthe last line"]) });
  show(call);
  expect(document.body.textContent).toContain("100 kB more");
  await userEvent.click(screen.getByRole("button", { name: "Show all (100 kB)" }));
  expect(await screen.findByText(/the last line/)).toBeTruthy();
  expect(body).toHaveBeenCalledExactlyOnceWith("s1", sha256);
  expect(screen.queryByRole("button", { name: /100 kB/ })).toBeNull();
});

test.each(["read", "execute"] as const)("a long result of kind %s has one button, which shows all of it unfolded", async (kind) => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`);
  const head = lines.slice(0, 900).join("\n").slice(0, -1);
  const scrollTo = vi.spyOn(Element.prototype, "scrollTo").mockReturnValue(undefined);
  body.mockResolvedValue({ ok: true, value: new Blob([lines.join("\n")]) });
  show({
    ...call,
    kind,
    content: [{ type: "text", text: head }],
    output: { text: "line 0" },
    bodies: [
      { head: head.length, bytes: 55_000, sha256 },
      // The same once more, which is not drawn.
      { of: "output", bytes: 56_000, sha256: "3".repeat(64) },
    ],
  });
  expect(document.querySelector(".output")?.textContent).toMatch(/^line 0\n(?:line \d+\n)+…$/);
  expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["Show all (55 kB)"]);
  await userEvent.click(screen.getByRole("button"));
  const all = await screen.findByRole("region", { name: "What it gave" });
  expect(all.textContent?.startsWith("line 0")).toBe(true);
  expect(all.textContent?.endsWith("line 1999")).toBe(true);
  expect(body).toHaveBeenCalledExactlyOnceWith("s1", sha256);
  expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["Show less"]);
  expect(scrollTo).not.toHaveBeenCalled();
  scrollTo.mockRestore();
});

test("a long change is shown whole on a press", async () => {
  body.mockResolvedValue({ ok: true, value: new Blob([Array.from({ length: 300 }, (_, index) => `line ${index}`).join("\n")]) });
  show({ ...call, content: [{ type: "diff", path: "/w/a.rs", newText: "line" }], bodies: [{ of: "new_text", head: 4, bytes: 40_000, sha256 }] });
  await userEvent.click(screen.getByRole("button", { name: "Show all (40 kB)" }));
  await screen.findByRole("figure", { name: "Change of /w/a.rs" });
  expect(document.querySelectorAll(".diff-line")).toHaveLength(300);
});

test("what is gone is said to be", async () => {
  body.mockResolvedValue({ ok: false, failure: { kind: "refused", status: 410, code: "body_gone", message: "gone" } });
  show(call);
  await userEvent.click(screen.getByRole("button", { name: "Show all (100 kB)" }));
  expect((await screen.findByRole("alert")).textContent).toContain("The rest is gone");
});

test("of what is gone the beginning can still be unfolded", async () => {
  body.mockResolvedValue({ ok: false, failure: { kind: "refused", status: 410, code: "body_gone", message: "gone" } });
  show({ ...call, content: [{ type: "terminal", command: "make", output: "a line\n".repeat(500) }], bodies: [{ head: 3_500, bytes: 100_000, sha256 }] });
  await userEvent.click(screen.getByRole("button", { name: "Show all (100 kB)" }));
  await screen.findByRole("alert");
  await userEvent.click(screen.getByRole("button", { name: /^Show all \d+ lines$/ }));
  expect(screen.getByRole("region").textContent).toContain("a line");
});

test("a long change is not compared by its beginnings, and what was not kept has no button", () => {
  show({
    ...call,
    content: [{ type: "diff", path: "/w/a.rs", oldText: "o", newText: "n" }],
    bodies: [
      { of: "old_text", head: 1, bytes: 40_000 },
      { of: "new_text", head: 1, bytes: 41_000 },
    ],
  });
  expect(document.body.textContent).toContain("A long change of /w/a.rs");
  expect(screen.queryByRole("button", { name: /Show all/ })).toBeNull();
});
