/**
 * The watch on an upstream session, kept where the client's stream is held: it costs nothing but
 * the connection, and the session's holder sleeps until something is said.
 */

import type { JsonObject } from "../protocol/json-rpc.ts";
import type { Watched } from "../sessions/dispatch.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { readOrder, watch } from "../upstream/legacy/watch.ts";
import type { SessionStub } from "./door.ts";

const MAX_ATTEMPTS = 7;
const FIRST_PAUSE_MS = 50;

export class UpstreamWatch {
  readonly #target: UpstreamTarget;
  readonly #session: SessionStub;
  #sessionId: string | undefined;
  #stop: (() => void) | undefined;

  constructor(target: UpstreamTarget, session: SessionStub) {
    this.#target = target;
    this.#session = session;
  }

  /** Watches what the session's holder says; what is watched already goes on. */
  follow(ordered: JsonObject): void {
    const order = readOrder(ordered);
    if (order === undefined) return;
    if (this.#stop !== undefined && order.sessionId === this.#sessionId) return;
    this.stop();
    let isPrimed = false;
    this.#sessionId = order.sessionId;
    this.#stop = watch(this.#target, order, {
      deliver: (parsed, lastEventId) =>
        this.#handIn(lastEventId === undefined ? { parsed } : { parsed, lastEventId }),
      primed: (lastEventId) => {
        // Once: later it can be taken up from what was said last.
        if (!isPrimed) void this.#handIn({ lastEventId });
        isPrimed = true;
      },
      onLost: () => {
        this.stop();
        this.#session.upstreamForgotten(order.sessionId).catch(() => undefined); // the next call will
      },
    });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  async #handIn(watched: Watched): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        // The holder may have been restarted in the middle of it; it knows what it has.
        await this.#session.watched(attempt === 0 ? watched : { ...watched, isRepeated: true });
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** attempt));
      }
    }
    this.stop(); // what goes on from here would have a gap
  }
}
