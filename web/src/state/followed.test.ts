// A followed session: order, the queue, and words that are not durable yet.
import { expect, test } from "vitest";

import type { Author, Entry, Session } from "../wire/names";
import type { Followed } from "./followed";
import { agentBefore, applyEntries, applyLarge, applyPreview, asidesAfter, asidesAtEnd, beginFollow, caughtUp, firstFollowed, newestOpen, NOT_READ, openRequests, takeLarge, turnAt, turnCount, withPreviews } from "./followed";

const SESSION = "0190a8c0-0000-7000-8000-0000000000c1";
const AT = "2026-01-02T03:04:05.006Z";
const prompt = (n: number) => `0190a8c0-0000-7000-8000-00000000000${n}`;

type Happened = Omit<Entry, "seq" | "at">;

function follow(from: Followed, ...events: Happened[]): Followed {
  return events.reduce((followed, event) => {
    const seq = followed.seq + 1;
    return applyEntries(followed, [{ cursor: `1f.${seq}`, entry: { ...event, seq, at: AT } as Entry }]);
  }, from);
}

const started = (turn: number) => ({ type: "turn.started", data: { turn, interactionId: prompt(turn) } }) as Happened;
const sent = (turn: number, text: string) => ({ type: "prompt.sent", data: { interactionId: prompt(turn), text } }) as Happened;
const said = (turn: number, text: string, block = 0) => ({ type: "text.part", data: { turn, block, text } }) as Happened;
const ended = (turn: number) => ({ type: "turn.ended", data: { turn, outcome: "completed" } }) as Happened;
const PHONE: Author = { type: "person", name: "phone" };
const AGENT: Author = { type: "agent", session: "s1" };
const queued = (n: number, text: string) => ({ type: "prompt.queued", data: { interactionId: prompt(n), text, by: PHONE } }) as Happened;
const preview = (turn: number, text: string, block = 0) => ({ type: "preview" as const, session: SESSION, turn, kind: "text" as const, block, text });

/** A follow that goes on from a cursor. */
const AGAIN = { snapshot: { queue: [] } as unknown as Session };

/** The last turn's blocks as they are shown. */
function shown(followed: Followed): readonly string[] {
  const turn = followed.transcript.turns.at(-1);
  return (turn === undefined ? [] : withPreviews(turn, followed.previews).items).map((item) => ("text" in item ? item.text : item.type));
}

const running = follow(caughtUp(NOT_READ), started(1), sent(1, "hello"));

test("only the entry after the last one is taken", () => {
  const entry = { seq: 5, at: AT, ...said(1, "later") } as Entry;
  const heard = (seq: number) => ({ cursor: `1f.${seq}`, entry: { ...entry, seq } });
  expect(applyEntries(running, [heard(5)])).toBe(running);
  expect(applyEntries(running, [heard(2)])).toBe(running);
  const taken = applyEntries(running, [heard(2), heard(3), heard(3), heard(5)]);
  expect([taken.seq, taken.cursor]).toEqual([3, "1f.3"]);
});

test("previews are shown at the end of their block until an entry holds them", () => {
  let followed = applyPreview(applyPreview(running, preview(1, "one ")), preview(1, "two "));
  expect(shown(followed)).toEqual(["one two "]);
  followed = follow(followed, said(1, "one two "));
  expect(shown(followed)).toEqual(["one two "]);
  expect(followed.previews.size).toBe(0);
});

test("words said while the entry was on its way stay", () => {
  const followed = follow(applyPreview(running, preview(1, "one two three")), said(1, "one two "));
  expect(shown(followed)).toEqual(["one two three"]);
});

test("each block has its own previews", () => {
  const followed = applyPreview(applyPreview(running, preview(1, "first", 0)), preview(1, "second", 1));
  expect(shown(followed)).toEqual(["first", "second"]);
});

test("a turn's end leaves only what is durable", () => {
  const followed = follow(applyPreview(running, preview(1, "lost")), ended(1));
  expect(shown(followed)).toEqual([]);
  expect(applyPreview(followed, preview(1, "late"))).toBe(followed);
});

test("previews of another turn are not shown", () => {
  expect(applyPreview(running, preview(2, "early"))).toBe(running);
});

test("a follow that begins in the middle of a sentence waits for the whole of it", () => {
  let followed = caughtUp(follow(beginFollow(NOT_READ, AGAIN), started(1), sent(1, "hello")));
  followed = applyPreview(followed, preview(1, "of a sentence"));
  expect(shown(followed)).toEqual([]);
  followed = applyPreview(follow(followed, said(1, "The end of a sentence")), preview(1, ", and more"));
  expect(shown(followed)).toEqual(["The end of a sentence, and more"]);
});

test("a follow that begins again keeps what is shown, but for words that were not durable", () => {
  const followed = beginFollow(applyPreview(follow(running, said(1, "kept ")), preview(1, "lost")), AGAIN);
  expect(followed.reading.kind).toBe("ready");
  expect(shown(followed)).toEqual(["kept "]);
});

test("the queue follows the log", () => {
  let followed = follow(running, queued(2, "then"), queued(3, "and then"), queued(4, "no"));
  followed = follow(
    followed,
    { type: "prompt.changed", data: { interactionId: prompt(3), text: "and after that", by: AGENT } } as Happened,
    { type: "prompt.removed", data: { interactionId: prompt(4) } } as Happened,
  );
  expect(followed.queue.map(({ text }) => text)).toEqual(["then", "and after that"]);
  followed = follow(followed, ended(1), started(2), sent(2, "then"));
  expect(followed.queue).toEqual([{ interactionId: prompt(3), text: "and after that", queuedAt: AT, by: AGENT }]);
});

test("a follow of the newest turns takes over what was told before them, and what it is told again changes nothing", () => {
  const waiting = [2, 3].map((n) => ({ interactionId: prompt(n), text: `wait ${n}`, queuedAt: AT, by: PHONE }));
  const agent = { state: "ready" as const, program: "guide 1", options: [], commands: [{ name: "say", description: "Says it." }], methods: [], usage: { used: 5, size: 9 } };
  const window = { after: "1f.40", agent };
  let followed = beginFollow(NOT_READ, { snapshot: { queue: waiting } as unknown as Session, window });
  expect([followed.seq, followed.cursor, followed.reading.kind]).toEqual([40, "1f.40", "loading"]);
  followed = follow(followed, started(7), sent(7, "go on"), queued(2, "wait 2"), queued(4, "gone"), queued(3, "wait 3"));
  followed = follow(followed, { type: "prompt.removed", data: { interactionId: prompt(4) } } as Happened);
  expect(followed.queue).toEqual(waiting);
  expect(followed.agent).toEqual({ ...agent, reason: null });
  expect([firstFollowed(followed), turnCount(followed)]).toEqual([7, 7]);
  expect(turnAt(followed, 7)?.prompt).toBe("go on");
  expect(turnAt(followed, 6)).toBeNull();
});

test("a request is open until it is answered, and when that was is kept", () => {
  const asked = { type: "permission.asked", data: { turn: 1, request: 4, title: "Run it?", kind: "execute", subject: "make", options: [] } } as Happened;
  const answered = { type: "permission.answered", data: { turn: 1, request: 4, by: { type: "nobody" } } } as Happened;
  const open = (followed: Followed) => followed.transcript.turns.flatMap(openRequests).map(({ request }) => request);
  const waiting = follow(running, asked);
  expect(open(waiting)).toEqual([4]);
  expect(open(follow(waiting, ended(1)))).toEqual([]);
  const done = follow(waiting, answered);
  expect(open(done)).toEqual([]);
  expect([...done.answeredAt]).toEqual([[4, AT]]);
});

test("how much of a text is not durable is said of it", () => {
  const followed = follow(applyPreview(running, preview(1, "one two three")), said(1, "one two "));
  const [turn] = followed.transcript.turns;
  expect(turn && withPreviews(turn, followed.previews).items).toEqual([{ type: "text", block: 0, text: "one two three", unsettled: 5 }]);
});

test("a step that comes or is taken is noted", () => {
  const offered = { type: "next.offered", data: { turn: 1, nth: 1, block: 0, start: 0, end: 3, label: "Go", command: "go" } } as Happened;
  const clicked = { type: "next.clicked", data: { turn: 1, nth: 1 } } as Happened;
  const after = follow(running, said(1, "one"), offered);
  expect([running.nextSeq, after.nextSeq]).toEqual([0, after.seq]);
  const taken = follow(after, ended(1), clicked);
  expect(taken.nextSeq).toBe(taken.seq);
});

const asked = (request: number, title: string) => ({ type: "permission.asked", data: { request, title, kind: "other", options: [] } }) as unknown as Happened;
const withdrawn = (request: number) => ({ type: "permission.answered", data: { request, by: { type: "nobody" } } }) as unknown as Happened;
const requests = (asides: readonly { request: number }[]) => asides.map(({ request }) => request);

test("what is asked beside the turns stands at the end while it waits, and then after its turn", () => {
  let followed = follow(caughtUp(NOT_READ), asked(1, "first?"));
  expect([requests(asidesAtEnd(followed)), newestOpen(followed)?.title]).toEqual([[1], "first?"]);
  followed = follow(followed, withdrawn(1));
  expect([requests(asidesAtEnd(followed)), newestOpen(followed)]).toEqual([[1], null]);
  followed = follow(followed, started(1), sent(1, "go"), ended(1), asked(2, "second?"), asked(3, "third?"));
  expect([requests(asidesAtEnd(followed)), requests(asidesAfter(followed, 0)), requests(asidesAfter(followed, 1))]).toEqual([[2, 3], [1], []]);
  followed = follow(followed, started(2), withdrawn(2));
  expect([requests(asidesAtEnd(followed)), requests(asidesAfter(followed, 1))]).toEqual([[3], [2]]);
  expect(newestOpen(followed)?.title).toBe("third?");
});

test("what was asked before the turns that are followed is known by the window", () => {
  const entry = { ...asked(4, "still?"), seq: 3, at: AT } as Entry;
  const window = { after: "1f.90", agent: { state: "ready", options: [], commands: [], methods: [] }, asked: [entry] };
  let followed = beginFollow(NOT_READ, { ...AGAIN, window } as unknown as Parameters<typeof beginFollow>[1]);
  followed = follow(followed, started(7), sent(7, "go"));
  expect([followed.seq, requests(asidesAtEnd(followed))]).toEqual([92, [4]]);
  followed = follow(followed, withdrawn(4));
  expect(requests(asidesAtEnd(followed))).toEqual([4]);
  expect(requests(asidesAfter(followed, 0))).toEqual([]);
});

test("an entry that is too long to come keeps its place until it is read", () => {
  const large = (seq: number) => ({ type: "large_entry" as const, session: SESSION, cursor: `1f.${seq}`, seq, at: AT, kind: "text.part", turn: 1, bytes: 9_000_000, read: "" });
  const before = follow(running, said(1, "before "));
  expect(applyLarge(before, large(before.seq + 2))).toBe(before);
  const marked = follow(applyLarge(before, large(before.seq + 1)), said(1, "after", 1), ended(1));
  expect(shown(marked)).toEqual(["before ", "large", "after"]);
  const entry = { ...said(1, "very long "), seq: before.seq + 1, at: AT } as Entry;
  const read = takeLarge(marked, entry);
  expect(shown(read)).toEqual(["before very long ", "after"]);
  expect(read.seq).toBe(marked.seq);
  expect(takeLarge(read, entry)).toBe(read);
});

test("a prompt that is too long to come does not wait any more, and is read like the rest", () => {
  const waits = follow(caughtUp(NOT_READ), queued(1, "look at these"), started(1));
  const seq = waits.seq + 1;
  const sentLarge = applyLarge(waits, { type: "large_entry", session: SESSION, cursor: `1f.${seq}`, seq, at: AT, kind: "prompt.sent", bytes: 9_000_000, read: "" });
  expect(sentLarge.queue).toEqual([]);
  expect(shown(sentLarge)).toEqual(["large"]);
  const read = takeLarge(sentLarge, { ...sent(1, "look at these"), seq, at: AT } as Entry);
  expect([read.transcript.turns.at(-1)?.prompt, shown(read)]).toEqual(["look at these", []]);
});

test("an entry that only a newer server knows is taken like any other, and what follows it too", () => {
  const followed = follow(running, { type: "song.part" } as unknown as Happened, said(1, "La"), ended(1));
  expect([followed.seq, followed.cursor]).toEqual([running.seq + 3, `1f.${running.seq + 3}`]);
  expect(shown(followed)).toEqual(["newer", "La"]);
  expect([followed.agent, followed.queue]).toEqual([running.agent, running.queue]);
});

test("who had the session before is known until the agent that it was handed over to takes a turn", () => {
  const begun = { ...running, transcript: { ...running.transcript, agent: "guide", handOvers: [{ after: 1, from: "guide", to: "claude" }] } };
  expect(agentBefore("claude", begun)).toBe("guide");
  expect(agentBefore("guide", begun)).toBeNull();
  expect(agentBefore("claude", follow(begun, ended(1), started(2)))).toBeNull();
  expect(agentBefore("guide", running)).toBeNull();
});

const appletShown = (output: string, slug?: string) => ({ type: "applet.shown", data: { turn: 1, output, title: "Counter", ...(slug && { slug, params: { a: "1" } }) } }) as Happened;
const stored = (id: string) => ({ type: "output.stored", data: { turn: 1, output: { id, type: "applet", mimeType: "application/json", bytes: 9, sha256: "00" } } }) as Happened;

test("an applet that is shown is an output that says which one it is, and that it was saved stands below it", () => {
  const saved = { type: "applet.saved", data: { turn: 1, slug: "counter", name: "Counter" } } as Happened;
  const { transcript } = follow(running, stored("out_1"), appletShown("out_1", "counter"), saved);
  expect(transcript.turns[0]?.items).toMatchObject([
    { type: "output", output: { id: "out_1" }, applet: { slug: "counter", title: "Counter", params: { a: "1" } } },
    { type: "applet_saved", slug: "counter", name: "Counter" },
  ]);
});

test("the applet that was shown last is live if it came while the session was followed, and not if it was caught up on", () => {
  const first = follow(running, stored("out_1"), appletShown("out_1", "counter"));
  expect(first.newestApplet).toEqual({ slug: "counter", title: "Counter", params: { a: "1" }, output: "out_1", seq: 4, live: true });
  expect(follow(NOT_READ, started(1), stored("out_1"), appletShown("out_1")).newestApplet).toMatchObject({ slug: null, params: {}, live: false });
  const again = follow(beginFollow(first, AGAIN), stored("out_2"), appletShown("out_2"));
  expect([again.newestApplet?.output, again.newestApplet?.live]).toEqual(["out_2", false]);
  expect(follow(caughtUp(again), stored("out_3"), appletShown("out_3")).newestApplet?.live).toBe(true);
});
