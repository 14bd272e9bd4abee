/** What a client of the session era subscribes to, and hears of on its standalone stream. */

import type { Actor, Json } from "./actor.ts";
import type { Ledger } from "./ledger.ts";
import type { ServerFacts } from "./server-facts.ts";
import { type Reading, readingIn, type SubscribeHabits, Subscriber } from "./subscriber.ts";

interface Parts {
  readonly ledger: Ledger;
  readonly server: ServerFacts;
  readonly ask: (method: string, params: Json) => Promise<Json | undefined>;
}

const WATCHED_MS = 5000;

export class LegacySubscriber {
  readonly #actor: Actor;
  readonly #habits: SubscribeHabits;
  readonly #parts: Parts;
  readonly #subscriber: Subscriber;
  readonly #listening = Promise.withResolvers<void>();

  constructor(actor: Actor, habits: SubscribeHabits, parts: Parts) {
    this.#actor = actor;
    this.#habits = habits;
    this.#parts = parts;
    this.#subscriber = new Subscriber(actor, parts.ledger.changes, (topic) => this.#read(topic));
  }

  /** Until the client knows everything. */
  async live(): Promise<void> {
    const { ledger, server } = this.#parts;
    ledger.changes.asked(this.#actor.name, server.tools);
    const uris = server.uris.slice(0, this.#habits.subscribes);
    await Promise.all([this.#followTools(), ...uris.map((uri) => this.#follow(uri))]);
    await this.#subscriber.settled(server.isDone);
  }

  /** Its standalone stream is open. */
  listens(): void {
    this.#listening.resolve();
  }

  /** Its stream cannot be taken up. */
  hasMissed(): void {
    this.#subscriber.hasMissed();
  }

  take(method: string, { uri }: Json = {}): void {
    if (method === "notifications/tools/list_changed")
      this.#subscriber.heard(this.#parts.server.tools);
    else if (method === "notifications/resources/updated") this.#subscriber.heard(String(uri));
  }

  /** A client that listens is told of the lists. Nothing says when that begins, so it lets some time pass. */
  async #followTools(): Promise<void> {
    const { server, ask } = this.#parts;
    if (!server.announcesLists) return;
    await this.#listening.promise;
    await this.#actor.sleep(WATCHED_MS);
    await ask("ping", {});
    await this.#actor.sleep(WATCHED_MS);
    this.#subscriber.promised(server.tools);
  }

  async #follow(uri: string): Promise<void> {
    const { changes } = this.#parts.ledger;
    for (let left = this.#habits.wavers === true ? 3 : 1; left > 0; left -= 1) {
      await this.#actor.sleep(this.#actor.upTo(2000));
      changes.asked(this.#actor.name, uri);
      await this.#until("resources/subscribe", uri);
      this.#subscriber.promised(uri);
      if (left === 1) return;
      await this.#actor.sleep(this.#actor.upTo(3000));
      changes.ended(this.#actor.name, uri);
      await this.#until("resources/unsubscribe", uri);
    }
  }

  /** Again until it is granted. */
  async #until(method: string, uri: string): Promise<void> {
    while ((await this.#parts.ask(method, { uri })) === undefined) await this.#actor.sleep(500);
  }

  async #read(topic: string): Promise<Reading | undefined> {
    const { ask, server } = this.#parts;
    const result =
      topic === server.tools
        ? await ask("tools/list", {})
        : await ask("resources/read", { uri: topic });
    return result && readingIn(result, server);
  }
}
