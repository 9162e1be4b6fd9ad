// The page of a session: what is drawn when words arrive, and what is not.
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import type { Http } from "../api/http";
import type { LiveListener } from "../api/live";
import { AppContext } from "../app/AppContext";
import type { Frame } from "../app/FrameContext";
import { FrameContext } from "../app/FrameContext";
import { createApp } from "../state/app";
import type { Entry, ServerFrame, SessionRow } from "../wire/names";
import type * as ItemsModule from "./items/Items";
import { SessionPage } from "./SessionPage";

/** The turns whose rows were drawn, in order. */
const drawn = vi.hoisted((): number[] => []);
vi.mock("./items/Items", async (original) => {
  const items = await original<typeof ItemsModule>();
  const { Items } = items;
  return {
    ...items,
    Items(props: Parameters<typeof Items>[0]) {
      drawn.push(props.turn);
      return <Items {...props} />;
    },
  };
});

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";
const AT = "2026-01-02T03:04:05.006Z";
const ROW: SessionRow = {
  id: SESSION,
  agent: "guide",
  cwd: "/srv/loom",
  project: "/srv/loom",
  title: "The loom",
  state: "running",
  turns: 1,
  createdAt: AT,
  activeAt: AT,
  unobserved: false,
  meta: { context: {}, name: "" },
};

afterEach(cleanup);

/** The page of a session whose first turn runs. */
function open() {
  let listener: LiveListener | undefined;
  let flush = (): void => undefined;
  const never = () => new Promise<never>(() => undefined);
  const app = createApp({
    http: new Proxy({} as Http, { get: () => never }),
    openLive(given) {
      listener = given;
      return { follow: () => undefined, unfollow: () => undefined, openApplet: () => undefined, closeApplet: () => undefined, writeAppletState: () => new Promise<never>(() => undefined) };
    },
    schedule: (run) => {
      flush = run;
    },
  });
  const hear = (...frames: ServerFrame[]) =>
    act(() => {
      frames.forEach((frame) => listener?.frame(frame));
      flush();
    });
  const entry = (seq: number, event: Pick<Entry, "type" | "data">): ServerFrame =>
    ({ type: "entry", session: SESSION, cursor: `1f.${seq}`, entry: { seq, at: AT, ...event } }) as ServerFrame;
  const frame: Frame = { show: () => undefined, goOn: () => undefined, remove: never, run: never };
  render(
    <AppContext value={app}>
      <FrameContext value={frame}>
        <SessionPage session={SESSION} fresh={false} picker={null} />
      </FrameContext>
    </AppContext>,
  );
  /** How often the header was drawn, which shows the directory: it stands for all that is drawn with the page. */
  let looks = 0;
  const watched = new Proxy({ ...ROW, queue: [], openRequests: [], cursor: "1f.0" }, {
    get(row, name, self: unknown) {
      looks += name === "cwd" ? 1 : 0;
      return Reflect.get(row, name, self) as unknown;
    },
  });
  const agent = { state: "ready" as const, options: [], commands: [], methods: [] };
  hear(
    { type: "session", session: SESSION, snapshot: watched, window: { after: "1f.0", agent } },
    { type: "caught_up", session: SESSION, cursor: "1f.0" },
    entry(1, { type: "turn.started", data: { turn: 1, interactionId: SESSION } }),
    entry(2, { type: "prompt.sent", data: { interactionId: SESSION, text: "What follows?", by: { type: "person" } } }),
  );
  return { hear, entry, looks: () => looks };
}

test("a word that arrives is drawn, and the page around its turn is not", () => {
  // Nothing is laid out here, so that no row would be in view.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  const { hear, entry, looks } = open();
  const before = looks();
  expect(before).toBeGreaterThan(0);
  for (const text of ["It ", "follows ", "that"]) {
    hear({ type: "preview", session: SESSION, turn: 1, kind: "text", block: 0, text });
  }
  expect(screen.getByRole("article", { name: "Turn 1" }).textContent).toContain("It follows that");
  expect(looks()).toBe(before);
  // An entry concerns all of it.
  hear(entry(3, { type: "text.part", data: { turn: 1, block: 0, text: "It follows that" } }));
  expect(looks()).toBeGreaterThan(before);
  expect(screen.getByRole("article", { name: "Turn 1" }).textContent).toContain("It follows that");
});

test("words and entries draw the row of their own turn once, and no other", () => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(100);
  const { hear, entry } = open();
  hear(
    entry(3, { type: "text.part", data: { turn: 1, block: 0, text: "Much." } }),
    entry(4, { type: "turn.ended", data: { turn: 1, outcome: "completed" } }),
    entry(5, { type: "turn.started", data: { turn: 2, interactionId: AT } }),
    entry(6, { type: "prompt.sent", data: { interactionId: AT, text: "And then?", by: { type: "person" } } }),
  );
  expect(new Set(drawn)).toEqual(new Set([1, 2]));
  const word = (text: string): ServerFrame => ({ type: "preview", session: SESSION, turn: 2, kind: "text", block: 0, text });
  drawn.length = 0;
  hear(word("It "), word("follows "), word("that"));
  expect(drawn).toEqual([2]);
  drawn.length = 0;
  hear(entry(7, { type: "text.part", data: { turn: 2, block: 0, text: "It follows that" } }));
  expect(drawn).toEqual([2]);
  // What moves the rows draws none of them.
  drawn.length = 0;
  hear(word(" more"));
  act(() => {
    screen.getByRole("log").dispatchEvent(new Event("scroll"));
  });
  expect(drawn).toEqual([2]);
});
