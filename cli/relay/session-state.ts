/** What the host has set up in its session, to set it up once more in another one, and what it hears of there. */

import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { memberText } from "../stdio/json-text.ts";
import { INITIALIZED, type Message, requestsOf, requestText } from "../stdio/message.ts";
import { missedChanges } from "./changes.ts";

export class SessionState {
  #introduction: Message | undefined;
  #initialized: string | undefined;
  #logLevel: string | undefined;
  /** By URI. */
  readonly #subscriptions = new Map<unknown, string>();

  /** The `initialize` of the host. */
  get introduction(): Message | undefined {
    return this.#introduction;
  }

  /** The messages that follow it, in their order. */
  get later(): readonly string[] {
    const texts = [this.#initialized, this.#logLevel, ...this.#subscriptions.values()];
    return texts.filter((text) => text !== undefined);
  }

  /** What the host is told of in a session of these capabilities, as changed. */
  missedIn(capabilities: JsonObject): readonly string[] {
    const isAnnounced = (list: string): boolean => {
      const offered = capabilities[list];
      return isObject(offered) && offered["listChanged"] === true;
    };
    return missedChanges(isAnnounced, [...this.#subscriptions.keys()]);
  }

  begin(introduction: Message): void {
    this.#introduction = introduction;
    this.#initialized = undefined;
    this.#logLevel = undefined;
    this.#subscriptions.clear();
  }

  /** Called with each message that the gateway has taken. */
  note(message: Message): void {
    const { text, parts, isBatch } = message;
    if (isBatch) return;
    if (parts.some((part) => part.kind === "notification" && part.method === INITIALIZED)) {
      this.#initialized = text;
    }
    for (const { method, params } of requestsOf(message)) {
      const written = memberText(text, "params") ?? "{}";
      const again = requestText(method, written);
      if (method === "logging/setLevel") this.#logLevel = again;
      if (method === "resources/subscribe") this.#subscriptions.set(params["uri"], again);
      if (method === "resources/unsubscribe") this.#subscriptions.delete(params["uri"]);
    }
  }
}
