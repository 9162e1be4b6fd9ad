// What the turns of open sessions used: read when somebody wants to see a turn, a chunk of turns at a time, and once more when a
// turn has ended since.
//
// Invariant: a chunk is asked for once at a time, a turn that ends meanwhile is asked for after it, and a turn that the server
// does not tell of is not asked for again and again. What got no answer is asked for again when the connection is back. What a
// session used in all is the answer to what was asked last, whichever comes last.
import type { Answer } from "../../api/http";
import type { SessionId } from "../../wire/names";
import type { SessionUsage, TurnUsed } from "../../wire/usage";

export const CHUNK = 100;

type Ask = (session: SessionId, after: number, limit: number) => Promise<Answer<SessionUsage>>;

export interface KnownUsage {
  readonly turns: ReadonlyMap<number, TurnUsed>;
  readonly newest: SessionUsage;
}

export class UsageBook {
  private readonly known = new Map<SessionId, KnownUsage>();
  private readonly asking = new Set<string>();
  /** The newest turn that was wanted of a chunk while it was asked for. */
  private readonly waiting = new Map<string, number>();
  private readonly asked = new Set<string>();
  /** The newest turn of each chunk that got no answer. */
  private readonly missed = new Map<string, { session: SessionId; turn: number }>();
  /** Numbers the questions; by session, that of the answer which says what was used in all. */
  private questions = 0;
  private readonly newestQuestion = new Map<SessionId, number>();
  private readonly listeners = new Set<() => void>();

  private readonly ask: Ask;

  constructor(ask: Ask) {
    this.ask = ask;
  }

  of(session: SessionId): KnownUsage | null {
    return this.known.get(session) ?? null;
  }

  /** A turn that has ended is in sight. */
  want(session: SessionId, turn: number): void {
    const chunk = Math.floor((turn - 1) / CHUNK);
    const place = `${session} ${chunk}`;
    if (this.known.get(session)?.turns.has(turn) || this.asked.has(`${session} ${turn}`)) {
      return;
    }
    if (this.asking.has(place)) {
      this.waiting.set(place, Math.max(turn, this.waiting.get(place) ?? 0));
      return;
    }
    this.asking.add(place);
    void this.read(session, turn, place);
  }

  /** The connection is back. */
  retry(): void {
    const missed = [...this.missed.values()];
    this.missed.clear();
    missed.forEach(({ session, turn }) => this.want(session, turn));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private async read(session: SessionId, turn: number, place: string): Promise<void> {
    const question = ++this.questions;
    const answer = await this.ask(session, Math.floor((turn - 1) / CHUNK) * CHUNK, CHUNK);
    this.asking.delete(place);
    const next = this.waiting.get(place);
    this.waiting.delete(place);
    if (!answer.ok) {
      this.missed.set(place, { session, turn: Math.max(turn, next ?? 0) });
      return;
    }
    this.missed.delete(place);
    const turns = new Map(this.known.get(session)?.turns);
    for (const used of answer.value.turns) {
      turns.set(used.turn, used);
    }
    // One behind all that are known may not have ended when it was first wanted.
    if (turn <= Math.max(0, ...turns.keys())) {
      this.asked.add(`${session} ${turn}`);
    }
    const before = this.known.get(session)?.newest;
    const isNewest = before === undefined || question > (this.newestQuestion.get(session) ?? 0);
    if (isNewest) {
      this.newestQuestion.set(session, question);
    }
    this.known.set(session, { turns, newest: isNewest ? answer.value : before });
    for (const listener of this.listeners) {
      listener();
    }
    if (next !== undefined) {
      this.want(session, next);
    }
  }
}
