// What an applet asks the person for, one thing at a time, in the page's own words.
//
// Invariant: nothing in the frame answers; what the person did not answer when the applet is left is a no.
import type { AppletGrant } from "../../wire/applets";

export type Ask =
  /** `text` is the message that waits for it. */
  | { readonly kind: "grant"; readonly grant: AppletGrant; readonly text: string | null }
  | { readonly kind: "link"; readonly url: string };

interface Waiting {
  readonly ask: Ask;
  answer(yes: boolean): void;
}

export class Asks {
  #waiting: readonly Waiting[] = [];
  #isClosed = false;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  readonly current = (): Ask | null => this.#waiting[0]?.ask ?? null;

  ask(ask: Ask): Promise<boolean> {
    if (this.#isClosed) {
      return Promise.resolve(false);
    }
    return new Promise((answer) => this.#change([...this.#waiting, { ask, answer }]));
  }

  /** Answers what is asked now. */
  answer(yes: boolean): void {
    const [first, ...rest] = this.#waiting;
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
