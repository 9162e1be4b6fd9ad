// Cards of outputs: what is read of the server, and what is shown of it.
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { inApp } from "../../app/inApp";
import type { Place } from "../../ui/place";
import { SoughtContext } from "../../ui/place";
import type { Output, OutputBody, OutputRemoval, OutputState } from "../../wire/names";
import { OutputCard } from "./OutputCard";

const ID = "out_6f0c4a1d9be84a0f8f0e7d1c2b3a4958";
const FILE: Output = {
  id: ID,
  type: "file",
  mimeType: "text/plain; charset=utf-8",
  bytes: 20,
  sha256: "00",
  path: "/home/ada/ma\u202Ein.rs",
  startLine: 10,
  lines: 2,
  totalLines: 400,
};
const TERMINAL: Output = { ...FILE, type: "terminal", path: null, startLine: null, totalLines: null, command: "cargo test", exitCode: 101, durationMs: 12_400, lines: 2 };
const EMBED: Output = { ...FILE, type: "embed", mimeType: "image/jpeg", path: null, lines: null, startLine: null, totalLines: null, url: "https://video.example/watch?v=1", provider: "Video", title: "How to \u202Eweave", author: "Ada" };

beforeEach(() => {
  // Everything is in sight.
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      readonly seen: (changes: { isIntersecting: boolean }[]) => void;
      constructor(seen: (changes: { isIntersecting: boolean }[]) => void) {
        this.seen = seen;
      }
      observe() {
        this.seen([{ isIntersecting: true }]);
      }
      disconnect() {
        return undefined;
      }
    },
  );
});

afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/");
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

interface Drawn {
  body?: Partial<OutputBody>;
  /** What became of its bytes, where they are not read with it. */
  state?: OutputState;
  /** How many lines can be read of it where it was edited. */
  linesNow?: number;
  lines?: readonly string[];
  removed?: OutputRemoval;
  sought?: Place;
}

function draw(output: Output, { body = {}, state = "kept", linesNow, lines = [], removed, sought }: Drawn = {}) {
  const http = {
    output: vi.fn(() => Promise.resolve({ ok: true, value: { id: output.id, createdAt: "", metadata: output, encoding: "utf-8", state: "kept", data: "", ...body } })),
    outputBytes: vi.fn(() => Promise.resolve({ ok: true, value: new Blob([body.data ?? "bytes"]) })),
    outputState: vi.fn(() => Promise.resolve({ ok: true, value: { state, lines: linesNow } })),
    outputTicket: vi.fn(() => Promise.resolve({ ok: true, value: { url: "/api/v1/tickets/t1", expiresAt: "" } })),
    outputLines: vi.fn((_session: string, _id: string, { first = 1, last = lines.length, grep }: { first?: number; last?: number; grep?: string }) =>
      Promise.resolve({
        ok: true,
        value: { lines: lines.map((text, index) => ({ number: index + 1, text })).filter(({ number, text }) => number >= first && number <= last && text.includes(grep ?? "")), next: null },
      }),
    ),
  };
  const card = (
    <SoughtContext value={sought ?? null}>
      <OutputCard session="s" turn={4} isPast={false} output={output} removed={removed} />
    </SoughtContext>
  );
  return { http, ...render(card, inApp({ http })) };
}

const linesOf = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
const numbers = (container: HTMLElement) => container.querySelector(".output-numbers")?.textContent?.trim();
const marked = (container: HTMLElement) => [...container.querySelectorAll("[data-marked]")].map((line) => line.textContent?.trim());

test("a file shows its lines with their numbers, and its name with what is hidden in it", async () => {
  const { http, container } = draw(FILE, { body: { data: "fn <b>a</b>() {\n}\n" } });
  expect(numbers(container)).toBe("10\n11");
  await screen.findByText(/fn <b>a<\/b>/);
  expect(http.output).toHaveBeenCalledExactlyOnceWith("s", ID);
  expect(container.querySelector("code")?.textContent).toBe("fn <b>a</b>() {\n}");
  expect(numbers(container)).toBe("10\n11");
  expect(screen.getByText("ma⟨U+202E⟩in.rs").title).toBe("/home/ada/ma⟨U+202E⟩in.rs");
  expect(screen.getByText("lines 10–11 of 400 · 20 bytes")).toBeTruthy();
  expect(screen.getByRole("button", { name: /^Copy/ })).toBeTruthy();
  expect(screen.queryByText(/edited since/)).toBeNull();
});

test("its lines have their room before the text is there, also empty ones at its end", async () => {
  const { container } = draw({ ...FILE, lines: 4 }, { body: { data: "one\n\n\n\n" } });
  const room = () => container.querySelector<HTMLElement>("pre")?.style.getPropertyValue("--lines");
  expect(room()).toBe("4");
  await screen.findByText(/one/);
  expect([room(), numbers(container)]).toEqual(["4", "10\n11\n12\n13"]);
});

test("a press on a number names the line in the address and copies that; Shift goes on from there", async () => {
  const user = userEvent.setup();
  const { container } = draw({ ...FILE, lines: 5 }, { body: { data: "warp\nb\nc\nd\ne\n" } });
  await screen.findByText(/warp/);
  const line = (number: number) => container.querySelector<HTMLElement>(`[data-line="${number}"]`) as HTMLElement;
  expect(line(12).getAttribute("href")).toBe(`/s/s#t4.${ID}.L12`);
  await user.click(line(12));
  expect([location.hash, marked(container)]).toEqual([`#t4.${ID}.L12`, ["12"]]);
  expect(await navigator.clipboard.readText()).toBe(`${location.origin}/s/s#t4.${ID}.L12`);
  expect(screen.getByText("Link to line 12 copied")).toBeTruthy();
  await user.keyboard("{Shift>}");
  await user.click(line(14));
  expect([location.hash, marked(container)]).toEqual([`#t4.${ID}.L12-14`, ["12", "13", "14"]]);
});

test("lines that the address names stand out", async () => {
  const { container } = draw(FILE, { body: { data: "warp\nb\n" }, sought: { turn: 4, tool: null, shown: { id: ID, lines: { first: 11, last: 99 } } } });
  await screen.findByText(/warp/);
  expect(marked(container)).toEqual(["11"]);
});

test("a file that was edited since says so in its head", async () => {
  draw(FILE, { body: { data: "one\ntwo\n", state: "changed" } });
  expect(await screen.findByText(/^edited since · lines 10/)).toBeTruthy();
  expect(screen.getByText(/one/)).toBeTruthy();
});

test.each([
  ["shorter", "one\n", "edited since · 1 line · 4 bytes", "1"],
  ["longer", "a\nb\nc\nd", "edited since · 4 lines · 7 bytes", "1\n2\n3\n4"],
])("a file that was edited and got %s has as many numbers as lines, and its head says how many", async (_, data, head, shown) => {
  const { container } = draw({ ...FILE, startLine: null, totalLines: 2 }, { body: { data, state: "changed" } });
  await screen.findByText(head);
  expect(numbers(container)).toBe(shown);
  expect(container.querySelector<HTMLElement>("pre")?.style.getPropertyValue("--lines")).toBe(String(shown.split("\n").length));
});

test("a long file that was edited has as many lines as are read of it, and its head does not say that it still has those of then", async () => {
  const { container } = draw({ ...FILE, startLine: null, totalLines: null, lines: 9_000 }, { lines: ["one", "two", "three"], state: "changed" });
  await screen.findByText("edited since · 9,000 lines · 20 bytes when it was shown");
  await screen.findByText(/two/);
  expect(numbers(container)).toBe("1\n2\n3");
  expect(container.querySelector<HTMLElement>("pre")?.style.getPropertyValue("--lines")).toBe("3");
  screen.getByRole("button", { name: "Open all of it" });
});

test("a long file that was edited says how many lines it has now, and has room for them before they come", async () => {
  const { container } = draw({ ...FILE, startLine: null, totalLines: null, lines: 9_000 }, { lines: linesOf(700), state: "changed", linesNow: 700 });
  await screen.findByText("edited since · 700 lines");
  await screen.findByText(/line 200/);
  expect(container.querySelector<HTMLElement>(".output-pages")?.style.height).toBe("calc(700 * var(--line))");
  await userEvent.click(screen.getByRole("button", { name: "Open all 700 lines" }));
  screen.getByRole("textbox", { name: "Go to line, 1 to 700" });
});

test("a long file that was emptied says that it is empty", async () => {
  draw({ ...FILE, startLine: null, totalLines: null, lines: 9_000 }, { state: "changed", linesNow: 0 });
  await screen.findByText("It is empty.");
});

const LONG: Output = { ...FILE, startLine: null, totalLines: null, lines: 9_000 };
const PICTURE: Output = { ...FILE, type: "image", mimeType: "image/png", path: "/p/a.png", lines: null, startLine: null, totalLines: null };
const ARCHIVE: Output = { ...PICTURE, type: "raw", mimeType: "application/zip", path: "/p/a.zip" };

test.each([
  ["a long text", LONG],
  ["a picture", PICTURE],
  ["a picture that nobody asked for", { ...PICTURE, bytes: 12_000_000 }],
  ["a card of a page elsewhere", EMBED],
  ["what cannot be shown", ARCHIVE],
])("%s that was edited since says so in its head, asked once", async (_, output) => {
  vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  const { http, container } = draw(output, { lines: ["one"], state: "changed" });
  await screen.findByText(/^edited since/);
  expect(http.outputState).toHaveBeenCalledExactlyOnceWith("s", ID);
  expect(container.querySelector("figcaption")?.textContent).toContain("edited since");
  cleanup();
  const kept = draw(output, { lines: ["one"] });
  await waitFor(() => expect(kept.http.outputState).toHaveBeenCalledOnce());
  await kept.http.outputState.mock.results[0]?.value;
  expect(screen.queryByText(/edited since/)).toBeNull();
});

test("a text that is read whole is not asked about twice", async () => {
  const { http } = draw(FILE, { body: { data: "one\ntwo\n" }, state: "changed" });
  await screen.findByText(/one/);
  expect(http.outputState).not.toHaveBeenCalled();
});

test("what is gone without having been read says so, and a page elsewhere stays a link", async () => {
  for (const output of [LONG, { ...PICTURE, bytes: 12_000_000 }, ARCHIVE]) {
    draw(output, { state: "gone" });
    await screen.findByText("The bytes of this output are gone: its file was moved or removed.");
    expect(screen.queryByRole("button")).toBeNull();
    cleanup();
  }
  draw(EMBED, { state: "gone" });
  await screen.findByText("its picture is gone");
  expect(screen.getByRole("link").getAttribute("href")).toBe(EMBED.url);
});

test("bytes that are gone are said to be, and cannot be taken along", async () => {
  draw(FILE, { body: { data: null, state: "gone" } });
  expect(await screen.findByText("The bytes of this output are gone: its file was moved or removed.")).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
});

test("what was removed says so and asks for nothing", () => {
  const { http, rerender, container } = draw(FILE, { removed: "removed" });
  expect(container.textContent).toContain("This output was removed.");
  rerender(<OutputCard session="s" turn={4} isPast={false} output={FILE} removed="pruned" />);
  expect(container.textContent).toContain("older than outputs are kept");
  expect(http.output).not.toHaveBeenCalled();
  expect(screen.queryByRole("button")).toBeNull();
});

test("one that was removed long after its turn is found out when it is read", async () => {
  const lost = () => Promise.resolve({ ok: false, failure: { kind: "refused", status: 404, code: "output_not_found", message: "" } });
  for (const output of [FILE, { ...FILE, lines: 9_000 }]) {
    render(<OutputCard session="s" turn={4} isPast={false} output={output} />, inApp({ http: { output: lost, outputLines: lost, outputState: lost } }));
    await screen.findByText("This output was removed. Its bytes are not kept any more.");
    cleanup();
  }
});

test("a long file comes page by page, also in the window, where its lines are found by words", async () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1} of many`);
  const { http, container } = draw({ ...FILE, startLine: null, totalLines: null, lines: 3_000, bytes: 60_000 }, { lines });
  await screen.findByText(/line 1 of many/);
  expect(http.output).not.toHaveBeenCalled();
  expect(http.outputLines).toHaveBeenCalledWith("s", ID, { first: 1, last: 200, limit: 200 }, expect.anything());
  expect(container.querySelectorAll("[data-line]")).toHaveLength(200);
  await userEvent.click(screen.getByRole("button", { name: "Open all 3,000 lines" }));
  const dialog = within(screen.getByRole("dialog"));
  await userEvent.type(dialog.getByRole("searchbox"), "2777");
  await userEvent.click(await dialog.findByRole("button", { name: /2777/ }));
  expect(location.hash).toBe(`#t4.${ID}.L2777`);
});

test("whoever is led to a line has it named, and the clipboard stays as it is; a search goes on to the next line", async () => {
  const user = userEvent.setup();
  draw({ ...FILE, lines: 5 }, { body: { data: "warp\nb\nc\nwarp\ne\n" }, lines: ["warp", "b", "c", "warp", "e"] });
  await screen.findByText(/warp/);
  await navigator.clipboard.writeText("my own words");
  await user.click(screen.getByRole("button", { name: /^Open/ }));
  const dialog = await screen.findByRole("dialog");
  const inside = within(dialog);
  const search = inside.getByRole<HTMLInputElement>("searchbox");
  await user.type(search, "warp");
  await user.click(await inside.findByRole("button", { name: /^10/ }));
  expect([search.value, location.hash, marked(dialog)]).toEqual(["warp", `#t4.${ID}.L10`, ["10"]]);
  inside.getByText("Found line 1 of 2 lines");
  // The focus is where the next one is a press away.
  await user.keyboard("{Enter}");
  expect([location.hash, marked(dialog)]).toEqual([`#t4.${ID}.L13`, ["13"]]);
  await user.click(inside.getByRole("button", { name: "Previous" }));
  expect(marked(dialog)).toEqual(["10"]);
  await user.click(inside.getByRole("button", { name: "List them" }));
  inside.getByRole("button", { name: /^13/ });
  await user.type(inside.getByRole("textbox"), "12{Enter}");
  expect([search.value, location.hash, marked(dialog)]).toEqual(["", `#t4.${ID}.L12`, ["12"]]);
  expect(await navigator.clipboard.readText()).toBe("my own words");
});

test("whoever asks for a line that is not there is told which lines there are", async () => {
  const lines = linesOf(3_000);
  for (const [output, asked, words] of [
    [{ ...FILE, lines: 5 }, "15", "There are 5 lines, 10 to 14."],
    [{ ...FILE, startLine: null, totalLines: null, lines: 3_000 }, "3001", "There are 3,000 lines."],
  ] as const) {
    draw(output, { body: { data: "warp\nb\nc\nd\ne\n" }, lines });
    await userEvent.click(screen.getByRole("button", { name: "Open ma⟨U+202E⟩in.rs" }));
    const dialog = within(await screen.findByRole("dialog"));
    const field = dialog.getByRole("textbox");
    await userEvent.type(field, `${asked}{Enter}`);
    expect(dialog.getByRole("alert").textContent).toBe(words);
    expect([field.getAttribute("aria-invalid"), location.hash]).toEqual(["true", ""]);
    await userEvent.type(field, "{Backspace}");
    expect(dialog.queryByRole("alert")).toBeNull();
    cleanup();
  }
});

test("in the window a line is named by its number, and Escape puts a search away before it closes", async () => {
  draw({ ...FILE, lines: 5 }, { body: { data: "warp\nb\nc\nd\ne\n" }, lines: ["a", "b", "c", "d", "e"] });
  await screen.findByText(/warp/);
  const open = screen.getByRole("button", { name: /^Open/ });
  await userEvent.click(open);
  const dialog = await screen.findByRole("dialog");
  await userEvent.type(within(dialog).getByRole("textbox", { name: "Go to line, 10 to 14" }), "13{Enter}");
  expect([location.hash, marked(dialog)]).toEqual([`#t4.${ID}.L13`, ["13"]]);
  const search = within(dialog).getByRole<HTMLInputElement>("searchbox");
  await userEvent.type(search, "zzz");
  await within(dialog).findByText("No line holds these words.");
  await userEvent.keyboard("{Escape}");
  expect(search.value).toBe("");
  await userEvent.click(within(dialog).getByRole("button", { name: "Close" }));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a picture is an image element of bytes that the page holds, until the card goes", async () => {
  const create = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  const revoke = vi.spyOn(URL, "revokeObjectURL").mockReturnValue();
  const { container, unmount } = draw({ ...FILE, type: "image", mimeType: "image/svg+xml", path: "/p/a.svg" });
  const button = await screen.findByRole("button", { name: "a.svg, show larger" });
  expect(container.querySelector("img")?.getAttribute("src")).toBe("blob:x");
  expect((create.mock.calls[0]?.[0] as Blob).type).toBe("image/svg+xml");
  await userEvent.click(button);
  const dialog = within(await screen.findByRole("dialog"));
  expect(dialog.getByRole("img", { name: "a.svg" })).toBeTruthy();
  expect(dialog.getByRole("button", { name: "Fit" }).getAttribute("aria-pressed")).toBe("true");
  await userEvent.keyboard("1");
  expect(dialog.getByRole("button", { name: "100 %" }).getAttribute("aria-pressed")).toBe("true");
  unmount();
  expect(revoke).toHaveBeenCalledWith("blob:x");
});

test("a large picture is read only when somebody asks for it", async () => {
  vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  const { http } = draw({ ...FILE, type: "image", mimeType: "image/png", path: "/p/a.png", bytes: 12_000_000 });
  expect(http.outputBytes).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Show it (12 MB)" }));
  expect(await screen.findByRole("button", { name: "a.png, show larger" })).toBeTruthy();
});

test("what a command printed has its colours, how it ended and how long it took", async () => {
  const { container } = draw(TERMINAL, { body: { data: "\x1b[32mok\x1b[0m <b>\n50 %\r100 %\x1b]52;c;x\x07\n" } });
  await waitFor(() => expect(container.querySelector("code")?.textContent).toBe("ok <b>\n100 %"));
  expect(container.querySelector(".ansi-fg-2")?.textContent).toBe("ok");
  expect(container.querySelector(".output-detail")?.textContent).toBe("exit 101 · 12 s · 2 lines · 20 bytes");
  expect(screen.getByText("cargo test")).toBeTruthy();
});

test.each([
  ["timeout", "Stopped: its time was up"],
  ["limit", "Stopped: it printed too much"],
  ["signal", "Ended by a signal"],
  ["cancelled", "Cancelled"],
] as const)("a command that was ended by %s says so", (endedBy, words) => {
  draw({ ...TERMINAL, exitCode: null, endedBy, cut: true });
  expect(screen.getByText(words)).toBeTruthy();
  expect(screen.getByText("There was more of this output than is kept.")).toBeTruthy();
});

test("what is copied of a command's output is what is seen", async () => {
  const user = userEvent.setup();
  const { container } = draw(TERMINAL, { body: { data: "\x1b[32mok\x1b[0m\n50 %\r100 %\n" } });
  await waitFor(() => expect(container.querySelector("code")?.textContent).toContain("ok"));
  await user.click(screen.getByRole("button", { name: /^Copy/ }));
  await screen.findByText("Copied");
  expect(await navigator.clipboard.readText()).toBe("ok\n100 %");
});

test("a page elsewhere is a link of its own tab, with a picture that the page holds", async () => {
  vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  const { container } = draw(EMBED);
  await waitFor(() => expect(container.querySelector("img")?.getAttribute("src")).toBe("blob:x"));
  const link = screen.getByRole("link");
  expect([link.getAttribute("href"), link.getAttribute("target"), link.getAttribute("rel")]).toEqual(["https://video.example/watch?v=1", "_blank", "noopener noreferrer"]);
  expect(link.textContent).toBe("How to ⟨U+202E⟩weaveAda · Videovideo.example ↗(opens in a new tab)");
  expect(container.querySelector("iframe, video, script")).toBeNull();
});

test.each(["javascript:alert(1)", "http://plain.example/", "data:text/html,x", "https://a:b@elsewhere.example/", "not one"])("%s is no link", (url) => {
  const { http, container } = draw({ ...EMBED, mimeType: "text/plain", url });
  expect(screen.queryByRole("link")).toBeNull();
  expect(container.querySelector(".embed")?.textContent).toContain(url);
  expect(http.outputBytes).not.toHaveBeenCalled();
});

test("what is neither text nor a picture has a head, and says so", () => {
  const { http, container } = draw({ ...FILE, type: "raw", mimeType: "application/zip", path: "/p/a.zip", lines: null, startLine: null, totalLines: null });
  expect(container.textContent).toBe("a.zip20 bytesDownloadThis is not text or a picture that can be shown here; it can be downloaded.");
  expect(http.output).not.toHaveBeenCalled();
});

test("a download is an address that the browser reads by itself, and the page holds none of it", async () => {
  const clicked: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    clicked.push(`${this.getAttribute("href")} as ${this.download}`);
  });
  const { http } = draw({ ...FILE, path: "/p/a.rs", bytes: 90_000_000 });
  await userEvent.click(screen.getByRole("button", { name: "Download a.rs" }));
  expect(http.outputTicket).toHaveBeenCalledExactlyOnceWith("s", ID);
  expect(http.outputBytes).not.toHaveBeenCalled();
  expect(clicked).toEqual(["/api/v1/tickets/t1 as a.rs"]);
});
