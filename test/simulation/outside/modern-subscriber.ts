/** A client of 2026-07-28 that listens: what it missed between two streams it reads again. */

import type { Actor, Json } from "./actor.ts";
import type { Ledger } from "./ledger.ts";
import { readMessages } from "./legacy-session.ts";
import type { ServerFacts } from "./server-facts.ts";
import { type Reading, readingIn, type SubscribeHabits, Subscriber } from "./subscriber.ts";

interface Parts {
  readonly ledger: Ledger;
  readonly server: ServerFacts;
  readonly send: (method: string, params: Json) => Promise<Response>;
}

export class ModernSubscriber {
  readonly #actor: Actor;
  readonly #habits: SubscribeHabits & { readonly reconnectMs: number };
  readonly #parts: Parts;
  readonly #subscriber: Subscriber;

  constructor(
    actor: Actor,
    habits: SubscribeHabits & { readonly reconnectMs: number },
    parts: Parts,
  ) {
    this.#actor = actor;
    this.#habits = habits;
    this.#parts = parts;
    this.#subscriber = new Subscriber(actor, parts.ledger.changes, (topic) => this.#read(topic));
  }

  /** Until the client knows everything. */
  async live(): Promise<void> {
    void this.#listen();
    await this.#subscriber.settled(this.#parts.server.isDone);
  }

  async #listen(): Promise<void> {
    const { ledger, server, send } = this.#parts;
    const uris = server.uris.slice(0, this.#habits.subscribes);
    const topics = [server.tools, ...uris];
    for (;;) {
      for (const topic of topics) ledger.changes.asked(this.#actor.name, topic, true);
      try {
        const notifications = { toolsListChanged: true, resourceSubscriptions: uris };
        const response = await send("subscriptions/listen", { notifications });
        await readMessages(response, (message) => this.#take(message));
      } catch {
        // It broke.
      }
      for (const topic of topics) ledger.changes.ended(this.#actor.name, topic);
      await this.#actor.sleep(10 + this.#actor.upTo(this.#habits.reconnectMs));
    }
  }

  /** @returns true for the end of the stream. */
  #take(message: Json): boolean {
    this.#actor.note(`hears ${JSON.stringify(message)}`);
    const { tools } = this.#parts.server;
    const { method, params } = message as { method?: string; params?: Json };
    if (method === "notifications/subscriptions/acknowledged") {
      const honoured = params?.["notifications"] as {
        readonly toolsListChanged?: boolean;
        readonly resourceSubscriptions?: readonly string[];
      };
      if (honoured.toolsListChanged === true) this.#subscriber.promised(tools);
      for (const uri of honoured.resourceSubscriptions ?? []) this.#subscriber.promised(uri);
    } else if (method === "notifications/tools/list_changed") this.#subscriber.heard(tools);
    else if (method === "notifications/resources/updated")
      this.#subscriber.heard(String(params?.["uri"]));
    return method === undefined;
  }

  async #read(topic: string): Promise<Reading | undefined> {
    const { send, server } = this.#parts;
    let result: Json | undefined;
    try {
      const response =
        topic === server.tools
          ? await send("tools/list", {})
          : await send("resources/read", { uri: topic });
      await readMessages(response, (message) => {
        if (message["method"] !== undefined) return false;
        result = message["result"] as Json | undefined;
        return true;
      });
    } catch {
      // It broke.
    }
    return result && readingIn(result, server);
  }
}
