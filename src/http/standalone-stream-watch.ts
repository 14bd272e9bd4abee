/**
 * The watches on the upstream sessions of one session, kept where the client's stream is held: they
 * cost nothing but their connections, and the session's holder sleeps until something is said.
 */

import { type Endpoint, serverOf } from "../endpoint/endpoint.ts";
import { type Backoff, pauseMs } from "../lib/backoff.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import type { Watched } from "../sessions/dispatch.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import {
  readStandaloneWatchRequest,
  watchStandaloneStream,
  type StandaloneWatchRequest,
} from "../upstream/legacy/watch-standalone-stream.ts";
import type { SessionStub } from "./front-door.ts";

const MAX_ATTEMPTS = 7;
const BACKOFF: Backoff = { firstMs: 50 };

interface Running {
  readonly sessionId: string | undefined;
  readonly stop: () => void;
}

export class StandaloneStreamWatch {
  readonly #endpoint: Endpoint;
  readonly #session: SessionStub;
  /** By server: each may have one watch. */
  readonly #running = new Map<string, Running>();

  constructor(endpoint: Endpoint, session: SessionStub) {
    this.#endpoint = endpoint;
    this.#session = session;
  }

  /** Watches what the session's holder says, by server; what is watched already goes on. */
  follow(ordered: JsonObject): void {
    const orders = new Map(Object.entries(ordered));
    for (const slug of this.#running.keys()) if (!orders.has(slug)) this.#stop(slug);
    for (const [slug, text] of orders) {
      const target = serverOf(this.#endpoint, slug)?.target;
      const order = isObject(text) ? readStandaloneWatchRequest(text) : undefined;
      if (target !== undefined && order !== undefined) this.#follow(target, order);
    }
  }

  stop(): void {
    for (const slug of this.#running.keys()) this.#stop(slug);
  }

  #stop(slug: string): void {
    this.#running.get(slug)?.stop();
    this.#running.delete(slug);
  }

  #follow(target: UpstreamTarget, order: StandaloneWatchRequest): void {
    const { slug } = target;
    const { sessionId } = order;
    const before = this.#running.get(slug);
    if (before !== undefined && before.sessionId === sessionId) return;
    this.#stop(slug);
    let isPrimed = false;
    let isOpen = false;
    const stop = watchStandaloneStream(target, order, {
      deliver: (parsed, lastEventId) =>
        this.#handIn({ slug, parsed, ...(lastEventId === undefined ? {} : { lastEventId }) }),
      standing: () => {
        if (!isOpen) void this.#handIn({ slug, isOpen: true });
        isOpen = true;
      },
      primed: (lastEventId) => {
        // Once: later it can be taken up from what was said last.
        if (!isPrimed) void this.#handIn({ slug, lastEventId });
        isPrimed = true;
      },
      onLost: () => {
        this.#stop(slug);
        const lost = sessionId === undefined ? { slug } : { slug, sessionId };
        this.#session.upstreamForgotten(lost).catch(() => undefined); // the next call will find out
      },
    });
    this.#running.set(slug, { sessionId, stop });
  }

  async #handIn(watched: Watched): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        // The holder may have been restarted in the middle of it; it knows what it has.
        await this.#session.handOverWatched(
          attempt === 0 ? watched : { ...watched, isRepeated: true },
        );
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, pauseMs(BACKOFF, attempt)));
      }
    }
    this.#stop(watched.slug); // what goes on from here would have a gap
  }
}
