// The composer: keys, drafts, and that no words are lost or sent twice.
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Answer, Http } from "../../api/http";
import { inApp } from "../../app/inApp";
import type { TranscriptTurn } from "../../state/transcript";
import type { AgentCommand, Author, NewPrompt } from "../../wire/names";
import type { Compose } from "./ComposeContext";
import { Composer } from "./Composer";

type Accepted = Answer<{ interactionId: string; turn: number | null }>;

const accepted: Accepted = { ok: true, value: { interactionId: "i", turn: 1 } };
const unreachable: Accepted = { ok: false, failure: { kind: "unreachable" } };

function open(answers: (Accepted | Promise<Accepted>)[], props: Partial<Parameters<typeof Composer>[0]> = {}, page = { Composer, inApp }) {
  const sent: NewPrompt[] = [];
  const http = {
    sendPrompt: vi.fn((_session: string, prompt: NewPrompt) => {
      sent.push(prompt);
      return Promise.resolve(answers.shift() ?? accepted);
    }),
    files: vi.fn((_session: string, prefix: string) =>
      Promise.resolve({ ok: true, value: { files: ["src/", "src/main.rs", "README.md"].filter((path) => path.startsWith(prefix)).map((path) => ({ path })) } }),
    ),
    cancel: vi.fn(() => Promise.resolve({ ok: true, value: undefined })),
    unsent: () => Promise.resolve({ ok: true, value: { text: null, writer: null } }),
    putUnsent: () => Promise.resolve({ ok: true, value: { success: true } }),
  } as unknown as Http;
  const onSent = vi.fn();
  const element = (more: Partial<Parameters<typeof Composer>[0]> = {}) => (
    <page.Composer
      key={more.session ?? props.session ?? "one"}
      session="one"
      agent="guide"
      running={false}
      online
      field={createRef()}
      onSent={onSent}
      {...props}
      {...more}
    />
  );
  const view = render(element(), page.inApp({ http }));
  const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Prompt for guide" });
  return { http, sent, onSent, field, show: (more: Partial<Parameters<typeof Composer>[0]>) => view.rerender(element(more)) };
}

beforeEach(() => {
  localStorage.clear();
});

afterEach(cleanup);

test("Enter sends, Shift+Enter makes a line, and the field is empty once the server keeps the words", async () => {
  const { sent, field, onSent } = open([]);
  await userEvent.type(field(), "first{Shift>}{Enter}{/Shift}second{Enter}");
  await waitFor(() => expect(onSent).toHaveBeenCalledOnce());
  expect(sent).toEqual([{ text: "first\nsecond", whenBusy: "queue", key: expect.any(String) as string }]);
  expect(field().value).toBe("");
  expect(localStorage.length).toBe(0);
});

test("blank words are not sent", async () => {
  const { sent, field } = open([]);
  await userEvent.type(field(), "  {Enter}");
  expect(sent).toEqual([]);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Send" }).disabled).toBe(true);
});

test("a draft belongs to its session and is there again", async () => {
  const { field, show } = open([]);
  await userEvent.type(field(), "for one");
  show({ session: "two" });
  expect(field().value).toBe("");
  await userEvent.type(field(), "for two");
  show({ session: "one" });
  expect(field().value).toBe("for one");
});

test("a prompt that got no answer is sent again under the same key when the connection is back", async () => {
  const { sent, show, field, onSent } = open([unreachable], { online: false });
  await userEvent.type(field(), "hello{Enter}");
  await screen.findByText(/Not sent yet/);
  expect(screen.getByText("hello")).toBeTruthy();
  show({ online: true });
  await waitFor(() => expect(onSent).toHaveBeenCalledOnce());
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual(sent[0]);
});

test("even after a reload the same words go out by themselves under the same key", async () => {
  const first = open([unreachable], { online: false });
  await userEvent.type(first.field(), "hello{Enter}");
  await screen.findByText(/Not sent yet/);
  cleanup();
  const second = open([], { online: false });
  expect(screen.getByText("hello")).toBeTruthy();
  second.show({ online: true });
  await waitFor(() => expect(second.onSent).toHaveBeenCalledOnce());
  expect(second.sent).toEqual(first.sent);
  expect(localStorage.length).toBe(0);
});

test("a held prompt can be taken back, and is another prompt once it is changed", async () => {
  const { sent, field } = open([unreachable], { online: false });
  await userEvent.type(field(), "hello{Enter}");
  await screen.findByText(/Not sent yet/);
  await userEvent.click(screen.getByRole("button", { name: "Take back" }));
  expect(field().value).toBe("hello");
  expect(screen.queryByText(/Not sent yet/)).toBeNull();
  await userEvent.type(field(), " there{Enter}");
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]?.text).toBe("hello there");
  expect(sent[1]?.key).not.toBe(sent[0]?.key);
});

test("what is written while a prompt is on its way is not lost, and goes out after it", async () => {
  let answer: (accepted: Accepted) => void = () => undefined;
  const { sent, field, onSent } = open([new Promise<Accepted>((resolve) => (answer = resolve))]);
  await userEvent.type(field(), "first{Enter}second");
  expect(field().value).toBe("second");
  await userEvent.keyboard("{Enter}third");
  expect(sent.map(({ text }) => text)).toEqual(["first"]);
  await act(async () => answer(accepted));
  await waitFor(() => expect(onSent).toHaveBeenCalledTimes(2));
  expect(sent.map(({ text }) => text)).toEqual(["first", "second"]);
  expect(field().value).toBe("third");
});

test("a refused prompt comes back before what was written since", async () => {
  let answer: (accepted: Accepted) => void = () => undefined;
  const { field } = open([new Promise<Accepted>((resolve) => (answer = resolve))]);
  await userEvent.type(field(), "first{Enter}second");
  await act(async () => answer({ ok: false, failure: { kind: "refused", status: 409, code: "queue_full", message: "no room" } }));
  expect(field().value).toBe("first\n\nsecond");
  expect(screen.getByRole("alert").textContent).toBe("No room.");
});

test("a refusal is said in words and the prompt stays", async () => {
  const refused: Accepted = { ok: false, failure: { kind: "refused", status: 409, code: "queue_full", message: "50 prompts are waiting already" } };
  const { field } = open([refused]);
  await userEvent.type(field(), "one more{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("50 prompts are waiting already.");
  expect(field().value).toBe("one more");
});

test("while a turn runs it can be stopped, and prompts wait", async () => {
  const { http, sent, field } = open([], { running: true });
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(http.cancel).toHaveBeenCalledExactlyOnceWith("one");
  await userEvent.type(field(), "then this");
  await userEvent.click(screen.getByRole("button", { name: "Send when this turn ends" }));
  await waitFor(() => expect(sent).toHaveLength(1));
});

test("Escape leaves the field", async () => {
  const { field } = open([]);
  await userEvent.type(field(), "words{Escape}");
  expect(document.activeElement).not.toBe(field());
  expect(field().value).toBe("words");
});

test("on a touch screen Enter makes a line and the button sends", async () => {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query.includes("coarse") }));
  const { sent, field } = open([]);
  await userEvent.type(field(), "one{Enter}two");
  expect(sent).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  await waitFor(() => expect(sent.map(({ text }) => text)).toEqual(["one\ntwo"]));
});

const file = (name: string, type: string, bytes = 3) => new File([new Uint8Array(bytes)], name, { type });
const thumbnails = () => screen.queryAllByRole("img").map((img) => img.getAttribute("alt"));
const paste = (field: Element, files: File[], text = "") =>
  fireEvent.paste(field, { clipboardData: { files, getData: () => text } });

test("pictures are pasted, dropped and chosen, shown, removed, and sent once", async () => {
  const { sent, field, onSent } = open([]);
  paste(field(), [file("a.png", "image/png")]);
  await waitFor(() => expect(thumbnails()).toEqual(["a.png"]));
  fireEvent.drop(window, { dataTransfer: { types: ["Files"], files: [file("b.webp", "image/webp")] } });
  await waitFor(() => expect(thumbnails()).toEqual(["a.png", "b.webp"]));
  await userEvent.upload(screen.getByLabelText("Pictures to add"), file("c.gif", "image/gif"));
  await waitFor(() => expect(thumbnails()).toEqual(["a.png", "b.webp", "c.gif"]));
  await userEvent.click(screen.getByRole("button", { name: "Remove b.webp" }));
  await userEvent.type(field(), "look{Enter}");
  await waitFor(() => expect(onSent).toHaveBeenCalledOnce());
  expect(sent[0]?.images).toEqual([
    { mimeType: "image/png", data: "AAAA" },
    { mimeType: "image/gif", data: "AAAA" },
  ]);
  expect(thumbnails()).toEqual([]);
  await userEvent.type(field(), "again{Enter}");
  await waitFor(() => expect(sent[1]).toEqual({ text: "again", whenBusy: "queue", key: expect.any(String) as string }));
});

test("what cannot be sent is refused in words, and the rest is kept", async () => {
  const { field } = open([]);
  paste(field(), [file("notes.pdf", "application/pdf"), file("ok.png", "image/png")]);
  expect((await screen.findByRole("alert")).textContent).toBe("“notes.pdf” cannot be sent: only PNG, JPEG, GIF and WebP pictures can.");
  expect(thumbnails()).toEqual(["ok.png"]);
  paste(field(), Array.from({ length: 9 }, (_, index) => file(`${index}.png`, "image/png")));
  await waitFor(() => expect(screen.getByRole("alert").textContent).toBe("At most 8 pictures go with a prompt."));
  expect(thumbnails()).toHaveLength(8);
});

test("pictures that are too large together are refused before they are read", async () => {
  const { field } = open([]);
  // Six MiB are eight of Base64.
  paste(field(), [file("fits.png", "image/png", 6 << 20)]);
  await waitFor(() => expect(thumbnails()).toEqual(["fits.png"]));
  paste(field(), [file("one more.png", "image/png", 1)]);
  expect((await screen.findByRole("alert")).textContent).toContain("“one more.png” is too large");
  expect(thumbnails()).toEqual(["fits.png"]);
});

test("a picture alone is a prompt, and goes out without words", async () => {
  const { sent, field } = open([unreachable]);
  paste(field(), [file("b.png", "image/png")]);
  await waitFor(() => expect(thumbnails()).toEqual(["b.png"]));
  await userEvent.type(field(), "{Enter}");
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject({ text: "", images: [{ mimeType: "image/png" }] });
});

test("pasted words stay words, and no picture gets into the store", async () => {
  const { field } = open([unreachable], { online: false });
  paste(field(), [file("a.png", "image/png")], "words with a picture of them");
  paste(field(), [file("b.png", "image/png")]);
  await waitFor(() => expect(thumbnails()).toEqual(["b.png"]));
  await userEvent.type(field(), "look{Enter}");
  await screen.findByText(/Not sent yet/);
  expect(JSON.stringify(localStorage)).not.toContain("AAAA");
  cleanup();
  // Left and opened again, it is whole; loaded anew, it is not.
  open([], { online: false });
  expect(screen.getByText(/with a picture/)).toBeTruthy();
  cleanup();
  vi.resetModules();
  const after = open([], {}, { ...(await import("./Composer")), ...(await import("../../app/inApp")) });
  expect(after.field().value).toBe("look");
  expect(screen.getByRole("alert").textContent).toContain("its pictures are gone");
  expect(after.sent).toEqual([]);
});

const COMMANDS: AgentCommand[] = [
  { name: "review", description: "Looks over the changes.", hint: "what to look at" },
  { name: "compact", description: "Makes room." },
  { name: "pre\u202Eview\u001b[2J", description: "<img src=x onerror=alert(1)>" },
];

test("a slash at the start offers the agent's commands; arrows and Enter take one", async () => {
  const { sent, field } = open([], { commands: COMMANDS });
  await userEvent.type(field(), "/");
  expect(screen.getAllByRole("option")).toHaveLength(3);
  await userEvent.keyboard("{ArrowDown}");
  const chosen = screen.getByRole("option", { selected: true });
  expect(chosen.textContent).toContain("/compact");
  expect(field().getAttribute("aria-activedescendant")).toBe(chosen.id);
  await userEvent.keyboard("{Enter}");
  expect(field().value).toBe("/compact ");
  expect(sent).toEqual([]);
  await userEvent.keyboard("now{Enter}");
  await waitFor(() => expect(sent.map(({ text }) => text)).toEqual(["/compact now"]));
});

test("a command that is written out is sent by one Enter; Escape puts the list away and keeps the field", async () => {
  const { sent, field } = open([], { commands: COMMANDS });
  await userEvent.type(field(), "/compact{Enter}");
  await waitFor(() => expect(sent.map(({ text }) => text)).toEqual(["/compact"]));
  await userEvent.type(field(), "/re{Escape}");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(document.activeElement).toBe(field());
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(sent.map(({ text }) => text)).toEqual(["/compact", "/re"]));
});

test("a slash elsewhere is a slash, and hidden characters of a command are seen", async () => {
  const { field } = open([], { commands: COMMANDS });
  await userEvent.type(field(), "and /re");
  expect(screen.queryByRole("listbox")).toBeNull();
  await userEvent.clear(field());
  await userEvent.type(field(), "/pre");
  expect(screen.getByRole("option").textContent).toBe("/pre⟨U+202E⟩view␛[2J<img src=x onerror=alert(1)>");
  expect(document.querySelector("img")).toBeNull();
});

test("an @ offers files; a directory goes on, a file ends with a space", async () => {
  const { http, field } = open([]);
  await userEvent.type(field(), "see @s");
  await screen.findByRole("option", { name: "src/" });
  await userEvent.keyboard("{Tab}");
  expect(field().value).toBe("see @src/");
  await userEvent.click(await screen.findByRole("option", { name: "src/main.rs" }));
  expect(field().value).toBe("see @src/main.rs ");
  vi.mocked(http.files).mockClear();
  await userEvent.type(field(), "mail ada@example.org");
  expect(http.files).not.toHaveBeenCalled();
});

test("on opening it takes the focus beside a mouse, unless the agent asks; on a touch screen in a new session alone", () => {
  const takesFocus = (fine: boolean, props: Partial<Parameters<typeof Composer>[0]>) => {
    vi.stubGlobal("matchMedia", () => ({ matches: fine, addEventListener: () => undefined, removeEventListener: () => undefined }));
    const { field } = open([], props);
    const taken = document.activeElement === field();
    cleanup();
    vi.unstubAllGlobals();
    return taken;
  };
  expect([takesFocus(true, {}), takesFocus(true, { asked: true }), takesFocus(true, { asked: true, goneOn: true })]).toEqual([true, false, true]);
  expect([takesFocus(false, {}), takesFocus(false, { goneOn: true }), takesFocus(false, { begun: true })]).toEqual([false, false, true]);
});

const turn = (prompt: string, by: Author = { type: "person" }) => ({ prompt, by }) as TranscriptTurn;

test("Up in an empty field recalls earlier prompts, Down goes back, and a changed one is a draft", async () => {
  const turns = [turn("oldest"), turn("from an agent", { type: "agent", session: "x" }), turn("twice"), turn("twice"), turn("newest")];
  const { field } = open([], { turns });
  const steps = async (keys: string) => {
    await userEvent.type(field(), keys, { skipClick: true });
    return field().value;
  };
  field().focus();
  expect(await steps("{ArrowUp}")).toBe("newest");
  expect(await steps("{ArrowUp}")).toBe("twice");
  expect(await steps("{ArrowUp}")).toBe("oldest");
  expect(await steps("{ArrowUp}")).toBe("oldest");
  expect(await steps("{ArrowDown}{ArrowDown}")).toBe("newest");
  expect(await steps("{ArrowDown}")).toBe("");
  expect(await steps("{ArrowUp}!{ArrowUp}")).toBe("newest!");
});

const EARLIER = { text: "earlier words", images: [{ mimeType: "image/png", data: "AAAA" }] };

test("an earlier prompt is taken up with its pictures, and sent as another prompt", async () => {
  const compose = createRef<Compose>();
  const { sent, field } = open([], { ref: compose });
  act(() => compose.current?.edit(EARLIER));
  expect(field().value).toBe("earlier words");
  expect(thumbnails()).toEqual(["Picture 1"]);
  expect(screen.queryByRole("button", { name: "Back to the draft" })).toBeNull();
  await waitFor(() => expect(document.activeElement).toBe(field()));
  await userEvent.keyboard("!{Enter}");
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject({ text: "earlier words!", images: EARLIER.images });
});

test("the draft that was there waits, even over a reload, and is back once the earlier prompt is sent", async () => {
  const compose = createRef<Compose>();
  const { field } = open([], { ref: compose });
  await userEvent.type(field(), "half a thought");
  paste(field(), [file("mine.png", "image/png")]);
  await waitFor(() => expect(thumbnails()).toEqual(["mine.png"]));
  act(() => compose.current?.edit(EARLIER));
  // Pressed twice, it is taken up once.
  act(() => compose.current?.edit(EARLIER));
  expect(field().value).toBe("earlier words");
  expect(screen.getByText("half a thought")).toBeTruthy();
  cleanup();
  const { sent, field: again } = open([], {});
  await userEvent.type(again(), "{Enter}");
  await waitFor(() => expect(sent.map(({ text }) => text)).toEqual(["earlier words"]));
  expect(again().value).toBe("half a thought");
  expect(thumbnails()).toEqual(["mine.png"]);
  expect(screen.queryByRole("button", { name: "Back to the draft" })).toBeNull();
});

test("one press goes back to the draft; what was changed in the earlier prompt is not lost by taking it up anew", async () => {
  const compose = createRef<Compose>();
  const { field } = open([], { ref: compose });
  await userEvent.type(field(), "draft");
  act(() => compose.current?.edit({ text: "earlier", images: [] }));
  await userEvent.type(field(), ", changed");
  act(() => compose.current?.edit({ text: "earlier", images: [] }));
  expect(field().value).toBe("earlier");
  await userEvent.click(screen.getByRole("button", { name: "Back to the draft" }));
  expect(field().value).toBe("earlier, changed\n\ndraft");
  expect(document.activeElement).toBe(field());
});

test("while the connection is lost, the composer says what becomes of what is sent", () => {
  const { show } = open([], { online: false, lost: true });
  expect(screen.getByText(/^Not connected\. What you send is kept/)).toBeTruthy();
  show({ online: true, lost: false });
  expect(screen.queryByText(/^Not connected/)).toBeNull();
});
