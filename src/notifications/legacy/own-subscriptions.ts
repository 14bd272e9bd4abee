/**
 * Subscriptions in a client's own session at a server. Some servers announce the effects of a tool call
 * only in the session that made it. So after a client's first call the session is subscribed as well
 * as the feed, which also receives changes while the session has no listener. A client that only
 * listens has no such session, unless the feed cannot announce what it listens for: a server of both
 * eras may notify legacy sessions only.
 */

import { Reconciler } from "../../lib/reconciler.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { SessionSubscriptions } from "./session-subscriptions.ts";

/** Subscriptions and their ends under way at a time, at one server. */
const REQUESTS_AT_ONCE = 4;

export interface OwnSessions {
  /** The servers at which the session is subscribed, as it was saved. */
  readonly saved: readonly string[];
  readonly save: (slugs: readonly string[]) => void;
  /** Makes a request at a server on the gateway's own behalf. Never rejects. */
  readonly request: (slug: string, call: Call) => Promise<Reply>;
  /** Opens the session at a server. @returns whether it takes subscriptions. Never rejects. */
  readonly takesSubscriptions: (slug: string) => Promise<boolean>;
}

export class OwnSubscriptions {
  readonly #sessions: OwnSessions;
  readonly #wanted: Pick<SessionSubscriptions, "ownerOf" | "urisOf">;
  /** The servers that the client has called, or whose session is used without a call. */
  readonly #called: Set<string>;
  readonly #subscribed: Set<string>;
  readonly #reconcilers = new Map<string, Reconciler<string>>();

  constructor(sessions: OwnSessions, wanted: Pick<SessionSubscriptions, "ownerOf" | "urisOf">) {
    this.#sessions = sessions;
    this.#wanted = wanted;
    this.#called = new Set(sessions.saved);
    this.#subscribed = new Set(sessions.saved);
    for (const slug of sessions.saved) this.#make(slug, wanted.urisOf(slug));
  }

  /** @returns the subscriptions of the session with a server, if that is opened anew. */
  urisAt(slug: string): readonly string[] {
    return this.#subscribed.has(slug) ? this.#wanted.urisOf(slug) : [];
  }

  /**
   * Subscribes the session to the resources that were wanted before its first call.
   *
   * @returns `undefined` for any other call.
   */
  called(slug: string): Promise<void> | undefined {
    if (this.#called.has(slug)) return undefined;
    this.#called.add(slug);
    return this.subscribeAll(slug);
  }

  /**
   * Uses the session from now on, for a resource that the feed cannot announce.
   *
   * @returns `false` when the server does not subscribe it; then nothing has changed.
   */
  async begin(slug: string, uri: string): Promise<boolean> {
    // A session that is in use has been asked already.
    if (this.#called.has(slug) || !(await this.#sessions.takesSubscriptions(slug))) return false;
    if (!(await this.#at(slug).addAgain(uri))) return false;
    this.#called.add(slug);
    this.#note(slug);
    return true;
  }

  /** Subscribes the session to every wanted resource. */
  async subscribeAll(slug: string): Promise<void> {
    await this.#at(slug).check(this.#wanted.urisOf(slug));
    if (this.#wanted.urisOf(slug).length > 0) this.#note(slug);
  }

  /** @returns `false` where there is no such session, or the server does not subscribe it. */
  async subscribe(slug: string, uri: string): Promise<boolean> {
    if (!this.#called.has(slug) || !(await this.#at(slug).addAgain(uri))) return false;
    this.#note(slug);
    return true;
  }

  /** Ends the subscription to a resource that is no longer wanted. */
  async unsubscribe(slug: string, uri: string): Promise<void> {
    await this.#reconcilers.get(slug)?.check([uri]);
  }

  /** The session is over. */
  end(): void {
    for (const reconciler of this.#reconcilers.values()) reconciler.end();
  }

  #at(slug: string): Reconciler<string> {
    return this.#reconcilers.get(slug) ?? this.#make(slug, []);
  }

  /** @param unsure the resources that the session was subscribed to before a restart. */
  #make(slug: string, unsure: readonly string[]): Reconciler<string> {
    const ask = async (method: string, uri: string): Promise<boolean> =>
      "result" in (await this.#sessions.request(slug, { method, params: { uri } }));
    const reconciler = new Reconciler<string>({
      isWanted: (uri) => this.#wanted.ownerOf(uri) === slug,
      add: (uri) => ask("resources/subscribe", uri),
      remove: (uri) => ask("resources/unsubscribe", uri),
      atOnce: REQUESTS_AT_ONCE,
      givesUp: true,
      unsure,
    });
    this.#reconcilers.set(slug, reconciler);
    return reconciler;
  }

  /** Saves each server once, however many resources it has; they are stored elsewhere. */
  #note(slug: string): void {
    if (this.#subscribed.has(slug)) return;
    this.#subscribed.add(slug);
    this.#sessions.save([...this.#subscribed]);
  }
}
