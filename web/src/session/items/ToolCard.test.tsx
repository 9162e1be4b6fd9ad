// Cards of tools: each kind shows what people check, how it stands is a word, and no output is too large or too sly.
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import type { ToolCall } from "../../state/transcript";
import { DirectoryContext } from "../../ui/paths";
import type { ToolStatus } from "../../wire/names";
import { ToolCard } from "./ToolCard";

const call: ToolCall = {
  type: "tool",
  tool: 1,
  callId: "c1",
  title: "Do it",
  name: null,
  kind: "other",
  status: "completed",
  content: [],
  locations: [],
  input: null,
  output: null,
};

function show(change: Partial<ToolCall>): HTMLElement {
  return render(<ToolCard call={{ ...call, ...change }} />).container;
}

afterEach(cleanup);

test.each([
  ["pending", "Pending"],
  ["running", "Running"],
  ["completed", "Done"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
] satisfies [ToolStatus, string][])("%s is told in a word", (status, word) => {
  expect(show({ status }).textContent).toContain(word);
});

test("a change shows what was added and removed, by sign and word", () => {
  const page = show({ kind: "edit", content: [{ type: "diff", path: "/a/loom.rs", oldText: "one\ntwo\n", newText: "one\n<b>2</b>\n" }] });
  const lines = [...page.querySelectorAll(".diff-line")].map((line) => line.textContent);
  expect(lines).toEqual([" one", "−Removed: two", "+Added: <b>2</b>"]);
  expect(screen.getByRole("figure", { name: "Change of /a/loom.rs" }).textContent).toContain("+1 −1");
  expect(page.querySelector("b")).toBeNull();
});

test("a long change shows its beginning until all of it is asked for", async () => {
  const newText = Array.from({ length: 300 }, (_, index) => `line ${index}`).join("\n");
  const page = show({ kind: "edit", content: [{ type: "diff", path: "new.txt", newText }] });
  expect(page.querySelectorAll(".diff-line")).toHaveLength(16);
  await userEvent.click(screen.getByRole("button", { name: "Show all 300 lines" }));
  expect(page.querySelectorAll(".diff-line")).toHaveLength(300);
});

test("a command shows itself whole, its exit code, and the end of what it printed", async () => {
  const output = Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n");
  const command = `cargo test ${"--very-long ".repeat(30)}\u202E; rm`;
  const page = show({ kind: "execute", title: "Test", status: "failed", content: [{ type: "terminal", command, output, exitCode: 101 }] });
  expect(page.textContent).toContain("Failed · exit 101");
  expect(page.querySelector(".command")?.textContent).toContain("--very-long ⟨U+202E⟩; rm");
  expect(page.textContent).toContain("line 99");
  expect(page.textContent).not.toContain("line 91\n");
  await userEvent.click(screen.getByRole("button", { name: "Show all 100 lines" }));
  expect(within(screen.getByRole("region", { name: "What the command printed" })).getByText(/line 0/)).toBeTruthy();
});

test.each([{ intent: "Weave the selvedge" }, { tool: "report_intent", arguments: { intent: "Weave the selvedge" } }])(
  "what the agent is about to do is shown in place of the tool's name: %j",
  (input) => {
    const page = show({ kind: "think", title: "report_intent", input });
    expect(page.querySelector("button")?.textContent).toContain("Weave the selvedgeDone");
    expect(page.textContent).not.toContain("report_intent");
  },
);

test("without an intent the tool's name is all there is", () => {
  expect(show({ kind: "think", title: "report_intent" }).textContent).toContain("report_intent");
});

test("the command given as input is shown where the content names none", () => {
  expect(show({ kind: "execute", title: "List", input: { command: ["ls", "-la"] } }).querySelector(".command")?.textContent).toBe("$ ls -la");
});

test("a title that its line may cut off can be read to its end", async () => {
  const page = show({ title: `Look for ${"something ".repeat(10)}END` });
  expect(page.querySelector(".verbatim")).toBeNull();
  await userEvent.click(screen.getByRole("button", { expanded: false }));
  expect(page.querySelector(".verbatim")?.textContent?.endsWith(" END")).toBe(true);
});

test("escape sequences of a terminal stay text", () => {
  const output = "\u001B]0;title\u0007\u001B[31mred\u001B[0m\u001B[2J\r\nover\rwritten <script>alert(1)</script>";
  const page = show({ kind: "execute", content: [{ type: "terminal", command: "x", output, exitCode: 0 }] });
  expect(page.querySelector(".output")?.textContent).toBe("␛]0;title␇red␛[2J\nover\nwritten <script>alert(1)</script>");
  expect(page.querySelector("script")).toBeNull();
});

test.each([
  ["many lines", `${"x".repeat(99)}\n`.repeat(10_486)],
  ["one line", "y".repeat(1_048_576)],
])("a megabyte in %s draws little until it is asked for, and then all", async (_, output) => {
  const page = show({ kind: "execute", content: [{ type: "terminal", command: "x", output, exitCode: 0 }] });
  expect((page.textContent ?? "").length).toBeLessThan(5_000);
  await userEvent.click(screen.getByRole("button", { name: /^Show all/ }));
  expect((page.querySelector(".output")?.textContent ?? "").replaceAll("\n", "").length).toBe(output.replaceAll("\n", "").length);
});

test("a file that was read says where, folded; its fence is left out", async () => {
  const content = [{ type: "text" as const, text: "```rust\nfn main() {}\n```\n" }];
  const page = show({ kind: "read", title: "Read loom.rs", locations: [{ path: "/home/ada/loom.rs", line: 42 }], content });
  expect(page.textContent).toContain(":42");
  expect(page.querySelector(".output")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: /Read loom.rs/, expanded: false }));
  expect(page.textContent).toContain("/home/ada/loom.rs:42");
  expect(page.querySelector(".output")?.textContent).toBe("fn main() {}");
});

test("paths are shown from the session's directory on, once, and a command is left as it is", () => {
  const inLoom = (change: Partial<ToolCall>) => {
    const { container } = render(
      <DirectoryContext value="/home/ada/loom">
        <ToolCard call={{ ...call, ...change }} />
      </DirectoryContext>,
    );
    return container.textContent ?? "";
  };
  const path = "/home/ada/loom/src/shuttle.rs";
  const edit = inLoom({ kind: "edit", title: `Edit ${path}`, locations: [{ path, line: null }], content: [{ type: "diff", path, oldText: "a\n", newText: "b\n" }] });
  expect(edit).not.toContain("/home/ada");
  expect(edit.split("src/shuttle.rs")).toHaveLength(2);
  expect(screen.getByRole("figure", { name: "Change of src/shuttle.rs" })).toBeTruthy();
  cleanup();
  expect(inLoom({ kind: "edit", title: "Edit", content: [{ type: "diff", path, oldText: "a\n", newText: "b\n" }] })).toContain("src/shuttle.rs+1 −1");
  cleanup();
  expect(inLoom({ kind: "execute", title: `cat ${path}`, input: { command: `cat ${path}` } })).toContain(path);
});

test("of a path that does not fit, the directory gives way and never the file's name", () => {
  const page = show({ kind: "read", title: "Read crates/engine/src/live_session/deciding.rs" });
  expect(page.querySelector(".shrink-0.truncate")?.textContent).toBe("deciding.rs");
  expect(page.querySelector(".truncate.shrink-\\[9999\\]")?.textContent).toBe("crates/engine/src/live_session/");
});

test("any other tool shows what it was given and what came back, by name", async () => {
  const page = show({ input: { city: "Zürich", units: { wind: "m/s" }, deep: { a: { b: 1 } } }, output: { degrees: 21 } });
  await userEvent.click(screen.getByRole("button"));
  const pairs = [...page.querySelectorAll("dt")].map((name) => `${name.textContent}=${name.nextElementSibling?.textContent}`);
  expect(pairs).toEqual(["city=Zürich", "units=wind: m/s", 'deep={\n  "a": {\n    "b": 1\n  }\n}', "degrees=21"]);
});

test("what is omitted, linked or not understood is said", async () => {
  const page = show({
    content: [
      { type: "omitted", bytes: 5_000_000 },
      { type: "link", uri: "javascript:alert(1)", name: "notes" },
      { type: "raw", value: { odd: "thing" } as never },
    ],
  });
  await userEvent.click(screen.getByRole("button"));
  expect(page.textContent).toContain("5,000,000 bytes more than is kept.");
  expect(page.textContent).toContain("notes javascript:alert(1)");
  expect(page.querySelector("a")).toBeNull();
  expect(page.textContent).toContain("oddthing");
});

test("only pictures of known kinds reach the browser", () => {
  const page = show({
    content: [
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "image", mimeType: "image/svg+xml", data: "AAAA" },
      { type: "image", mimeType: "image/png", data: "AA\"onerror" },
    ],
  });
  expect([...page.querySelectorAll("img")].map((image) => image.getAttribute("src"))).toEqual(["data:image/png;base64,AAAA"]);
  expect(page.textContent).toContain("cannot be shown");
});

test("a title with line ends, markup and reversals is one harmless line", () => {
  const page = show({ title: "Read\n<i>x</i> \u202Etxt.exe" });
  expect(page.textContent).toContain("Read <i>x</i> ⟨U+202E⟩txt.exe");
  expect(page.querySelector("i")).toBeNull();
});
