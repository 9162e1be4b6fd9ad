// The way to the worker that colours code: started with the first block, one block at a time.
//
// Invariant: code that an agent wrote can make the worker slow, never the page. A block that takes too long ends the
// worker and stays plain; so does every block where there is no worker.
import type { CodeLanguage } from "./codeLanguages";
import type { CodeToken } from "./codeTokens";

export type Tokens = readonly CodeToken[];

interface Job {
  code: string;
  language: CodeLanguage;
  done(tokens: Tokens | null): void;
}

const PATIENCE_MS = 5_000;
/** So much code stays coloured after it went out of sight. */
const KEPT_CHARACTERS = 1_000_000;

export class Highlighter {
  private readonly open: () => Worker;
  private readonly waiting: Job[] = [];
  private readonly kept = new Map<string, Tokens | null>();
  private keptCharacters = 0;
  private worker: Worker | null = null;
  private running: Job | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(open: () => Worker) {
    this.open = open;
  }

  /** What is known already; undefined where it has to be asked for. */
  known(code: string, language: CodeLanguage): Tokens | null | undefined {
    return this.kept.get(keyOf(code, language));
  }

  /** Tells `done` once, unless it is taken back before. */
  ask(job: Job): () => void {
    this.waiting.push(job);
    this.next();
    return () => {
      const at = this.waiting.indexOf(job);
      if (at >= 0) {
        this.waiting.splice(at, 1);
      }
      job.done = () => undefined;
    };
  }

  private next(): void {
    const job = this.running === null ? this.waiting.shift() : undefined;
    if (job === undefined) {
      return;
    }
    this.running = job;
    const known = this.known(job.code, job.language);
    if (known !== undefined) {
      this.end(known);
      return;
    }
    try {
      this.worker ??= this.start();
    } catch {
      // This browser has none.
      this.end(null);
      return;
    }
    this.timer = setTimeout(() => this.giveUp(), PATIENCE_MS);
    this.worker.postMessage({ code: job.code, language: job.language });
  }

  private start(): Worker {
    const worker = this.open();
    worker.onmessage = (event: MessageEvent<Tokens | null>) => this.end(event.data);
    worker.onerror = () => this.giveUp();
    return worker;
  }

  private giveUp(): void {
    this.worker?.terminate();
    this.worker = null;
    this.end(null);
  }

  private end(tokens: Tokens | null): void {
    clearTimeout(this.timer);
    const job = this.running;
    this.running = null;
    if (job !== null) {
      this.keep(job, tokens);
      job.done(tokens);
    }
    this.next();
  }

  private keep({ code, language }: Job, tokens: Tokens | null): void {
    const key = keyOf(code, language);
    if (this.kept.has(key)) {
      return;
    }
    this.kept.set(key, tokens);
    this.keptCharacters += code.length;
    for (const oldest of this.kept.keys()) {
      if (this.keptCharacters <= KEPT_CHARACTERS) {
        break;
      }
      this.kept.delete(oldest);
      this.keptCharacters -= oldest.length - oldest.indexOf("\n") - 1;
    }
  }
}

function keyOf(code: string, language: CodeLanguage): string {
  return `${language}\n${code}`;
}
