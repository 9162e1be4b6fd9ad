// What the person lets an applet do. The server remembers it for this applet with this content.
//
// Invariant: with other content nothing is granted, whatever was granted before. A grant that was declined is not asked for again
// before the applet is loaded anew; the person can still give it, above the frame and in the menu. A prompt that waits for its grant
// is the one that is shown: no other waits beside it.
import type { Http } from "../../api/http";
import type { AppletGrant } from "../../wire/applets";
import type { SessionId } from "../../wire/names";
import type { Asks } from "./asks";
import { Refusal, refusalOf } from "./refusal";

interface GrantsOf {
  readonly http: Http;
  readonly session: SessionId;
  readonly applet: string;
  /** What names the content that the frame holds. */
  readonly hash: string;
  readonly asks: Asks;
}

export const GRANTS: readonly AppletGrant[] = ["files.read", "files.write", "message"];

export class Grants {
  readonly #of: GrantsOf;
  #declined: readonly AppletGrant[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #asking = new Map<AppletGrant, Promise<boolean>>();
  #known: Promise<ReadonlySet<AppletGrant>> | null = null;

  constructor(of: GrantsOf) {
    this.#of = of;
  }

  /** Hears when something is declined, or given after all. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** In the order in which they were. */
  readonly declined = (): readonly AppletGrant[] => this.#declined;

  /** Asks the person, unless it is granted already. `text` is the message that it is needed for. */
  async need(grant: AppletGrant, text: string | null = null): Promise<"granted_before" | "granted_now"> {
    // It may have been taken back on another device, and a prompt can not be.
    if (grant === "message") {
      this.forget();
    }
    if ((await this.known()).has(grant)) {
      this.#setDeclined(grant, false);
      return "granted_before";
    }
    if (this.#declined.includes(grant)) {
      throw new Refusal("not_granted", "the person does not grant this");
    }
    const asking = this.#asking.get(grant);
    if (grant === "message" && asking !== undefined) {
      throw new Refusal("busy", "the person is being asked about another message");
    }
    const answer = asking ?? this.#of.asks.ask({ kind: "grant", grant, text });
    if (asking === undefined) {
      this.#asking.set(grant, answer);
    }
    const yes = await answer;
    this.#asking.delete(grant);
    if (!yes) {
      this.#setDeclined(grant, true);
      throw new Refusal("not_granted", "the person does not grant this");
    }
    // Of several that waited for the same answer, one tells the server.
    if (asking === undefined) {
      await this.set(grant, true);
    } else {
      await this.known();
    }
    return "granted_now";
  }

  /** Has the server asked again: it does not check by itself what is done next. */
  forget(): void {
    this.#known = null;
  }

  /** As the server knows them. */
  async known(): Promise<ReadonlySet<AppletGrant>> {
    const { http, session, applet, hash } = this.#of;
    this.#known ??= http.appletGrants(session, applet).then((answer) => {
      if (!answer.ok) {
        this.#known = null;
        throw refusalOf(answer.failure);
      }
      return new Set(answer.value.hash === hash ? answer.value.grants : []);
    });
    return this.#known;
  }

  async set(grant: AppletGrant, granted: boolean): Promise<ReadonlySet<AppletGrant>> {
    const { http, session, applet, hash } = this.#of;
    const change = http.grantApplet(session, applet, { hash, grant, granted }).then((answer) => {
      if (!answer.ok) {
        this.#known = null;
        throw refusalOf(answer.failure);
      }
      this.#setDeclined(grant, false);
      return new Set(answer.value.hash === hash ? answer.value.grants : []);
    });
    this.#known = change;
    return change;
  }

  #setDeclined(grant: AppletGrant, declined: boolean): void {
    if (this.#declined.includes(grant) !== declined) {
      this.#declined = declined ? [...this.#declined, grant] : this.#declined.filter((other) => other !== grant);
      this.#listeners.forEach((listener) => listener());
    }
  }
}
