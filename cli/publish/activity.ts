/** What goes on in one channel: which requests have no answer yet, and when anything was said last. Pure. */

import { CANCELLED, LISTEN, type Message, requestIdOf } from "../stdio/message.ts";

export class Activity {
  #lastAt: number;
  /** The requests of either end, by the end and its id: each to its method. */
  readonly #asked = new Map<string, string>();

  /** @param now in milliseconds, as all times here. */
  constructor(now: number) {
    this.#lastAt = now;
  }

  /** The requests of the gateway that run, without the streams that are meant to stay open. */
  get calls(): number {
    return [...this.#asked].filter(([key, method]) => key.startsWith(">") && method !== LISTEN)
      .length;
  }

  /** @param direction ">" to the server, "<" from it. */
  note(direction: ">" | "<", message: Message, now: number): void {
    this.#lastAt = now;
    const [part] = message.parts;
    const other = direction === ">" ? "<" : ">";
    if (part?.kind === "request") this.#asked.set(direction + part.id, part.method);
    else if (part?.kind === "response") this.#asked.delete(`${other}${part.id}`);
    else if (part?.method === CANCELLED) {
      this.#asked.delete(`${direction}${requestIdOf(message)}`);
    }
  }

  isIdle(now: number, idleMs: number): boolean {
    return this.#asked.size === 0 && now - this.#lastAt >= idleMs;
  }
}
