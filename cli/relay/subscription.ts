/** One subscription of a host of 2026-07-28, over all the streams that carry it. */

import { LIST_FILTER, SUBSCRIPTIONS_ACKNOWLEDGED } from "../../src/protocol/change-notices.ts";
import { Meta } from "../../src/protocol/envelope.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { readMessage, type Request } from "../stdio/message.ts";
import { missedChanges } from "./changes.ts";

export class Subscription {
  readonly #id: string;
  #isAcknowledged = false;

  constructor({ id }: Request) {
    this.#id = id;
  }

  /** @returns the messages that the host gets in place of one of a stream. */
  receive(text: string): readonly string[] {
    const [part] = readMessage(text)?.parts ?? [];
    if (part?.kind !== "notification" || part.method !== SUBSCRIPTIONS_ACKNOWLEDGED) return [text];
    if (this.#isAcknowledged) return this.#changes(part.params);
    this.#isAcknowledged = true;
    return [text];
  }

  #changes({ notifications: filter }: JsonObject): readonly string[] {
    if (!isObject(filter)) return [];
    const uris = filter["resourceSubscriptions"];
    return missedChanges(
      (list) => filter[LIST_FILTER[list]] === true,
      Array.isArray(uris) ? (uris as unknown[]) : [],
      `"_meta":{"${Meta.subscriptionId}":${this.#id}}`,
    );
  }
}
