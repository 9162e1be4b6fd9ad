// What an applet asks the person for, one thing at a time, in the page's own words.
//
// Invariant: nothing in the frame answers; what the person did not answer when the applet is left is a no.
import type { AppletGrant } from "../../wire/applets";

export type Ask =
  /** `text` is the message that waits for it. */
  | { readonly kind: "grant"; readonly grant: AppletGrant; readonly text: string | null }
  | { readonly kind: "link"; readonly url: string };

/** Whoever said no so often is not asked for links any more, until the applet is loaded anew. */
const MOST_DECLINED_LINKS = 3;

interface Waiting {
  readonly ask: Ask;
  readonly nth: number;
  answer(yes: boolean): void;
}

export class Asks {
  #waiting: readonly Waiting[] = [];
  #isClosed = false;
  #asked = 0;
  #declinedLinks = 0;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  readonly current = (): Ask | null => this.#waiting[0]?.ask ?? null;

  /** Tells what is asked now apart from the same, asked again. */
  get nth(): number {
    return this.#waiting[0]?.nth ?? 0;
  }

  ask(ask: Ask): Promise<boolean> {
    const isOneTooMany = ask.kind === "link" && (this.#declinedLinks >= MOST_DECLINED_LINKS || this.#waiting.some(({ ask: { kind } }) => kind === "link"));
    if (this.#isClosed || isOneTooMany) {
      return Promise.resolve(false);
    }
    this.#asked += 1;
    const nth = this.#asked;
    return new Promise((answer) => this.#change([...this.#waiting, { ask, nth, answer }]));
  }

  /** Answers what is asked now. */
  answer(yes: boolean): void {
    const [first, ...rest] = this.#waiting;
    this.#declinedLinks += first?.ask.kind === "link" && !yes ? 1 : 0;
    this.#change(rest);
    first?.answer(yes);
  }

  /** Closed ones can be opened again. */
  open(): void {
    this.#isClosed = false;
  }

  close(): void {
    this.#isClosed = true;
    const left = this.#waiting;
    this.#change([]);
    left.forEach(({ answer }) => answer(false));
  }

  #change(waiting: readonly Waiting[]): void {
    this.#waiting = waiting;
    this.#listeners.forEach((listener) => listener());
  }
}
