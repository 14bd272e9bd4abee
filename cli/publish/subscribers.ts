/** Which channels of one process are subscribed to a resource: it stays subscribed until the last one leaves. Pure. */

import type { Request } from "../stdio/message.ts";

export class Subscribers {
  /** By URI. */
  readonly #channels = new Map<unknown, Set<string>>();

  /** @returns whether the server has to hear of it. */
  isForServer(channel: string, { method, params: { uri } }: Request): boolean {
    const channels = this.#channels.get(uri) ?? new Set<string>();
    if (method === "resources/subscribe") this.#channels.set(uri, channels.add(channel));
    if (method !== "resources/unsubscribe") return true;
    channels.delete(channel);
    return channels.size === 0;
  }

  forget(channel: string): void {
    for (const channels of this.#channels.values()) channels.delete(channel);
  }
}
