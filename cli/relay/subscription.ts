/**
 * One subscription of a host of 2026-07-28, over all the streams that carry it. What changed while there was no
 * stream is not known, so everything that the host listens to is announced again then: it looks once too often rather
 * than once too seldom.
 */

import {
  LIST_CHANGED,
  LIST_FILTER,
  RESOURCE_UPDATED,
  SUBSCRIPTIONS_ACKNOWLEDGED,
} from "../../src/protocol/change-notices.ts";
import { Meta } from "../../src/protocol/envelope.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { notificationText, readMessage, type Request } from "../stdio/message.ts";

const LISTS = ["tools", "prompts", "resources"] as const;

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
    const lists = LISTS.filter((list) => filter[LIST_FILTER[list]] === true);
    const uris = filter["resourceSubscriptions"];
    const resources = Array.isArray(uris) ? (uris as unknown[]) : [];
    return [
      ...lists.map((list) => this.#notification(LIST_CHANGED[list], "")),
      ...resources.map((uri) =>
        this.#notification(RESOURCE_UPDATED, `,"uri":${JSON.stringify(uri)}`),
      ),
    ];
  }

  #notification(method: string, members: string): string {
    const meta = `"_meta":{"${Meta.subscriptionId}":${this.#id}}`;
    return notificationText(method, `{${meta}${members}}`);
  }
}
